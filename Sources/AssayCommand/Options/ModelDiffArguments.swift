import ArgumentParser
import Assay

/// What only a comparison of two models has.
struct ModelDiffArguments: ParsableArguments {
  @Flag(
    help: "Of two models, compare the structure only; exit code 1 where anything differs.")
  var structure = false

  @Option(help: "Of two models without inputs: the seed of random ones.")
  var seed: UInt64 = 0

  /// Whether both files are models, by their content.
  static func areModels(_ files: ArraySlice<String>) throws -> Bool {
    try files.allSatisfy { try FileFormat.read($0).format == .coreML }
  }

  /// - Parameter options: those for the first model.
  func compare(
    _ files: [String], _ options: (Model) throws -> Comparison.Options
  ) throws -> ModelComparison {
    let first = try inFile(files[0]) { try Model(contentsOf: files[0]) }
    var all = ModelComparison.Options()
    all.comparison = try options(first)
    all.structureOnly = structure
    all.seed = seed
    let second = try inFile(files[1]) { try Model(contentsOf: files[1]) }
    return try ModelComparison(first, second, inputs: Array(files.dropFirst(2)), options: all)
  }
}
