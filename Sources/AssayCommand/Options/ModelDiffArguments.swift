import ArgumentParser
import Assay

/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(
    help: "Compare the structure only, and exit with 1 if anything differs.")
  var structure = false

  /// Whether both files are models, by their content.
  static func areModels(_ files: ArraySlice<String>) throws -> Bool {
    try files.allSatisfy { try FileFormat.read($0).format == .coreML }
  }

  /// - Parameters:
  ///   - seed: that of random inputs.
  ///   - options: those for the first model.
  func compare(
    _ files: [String], seed: UInt64, _ options: (Model) throws -> Comparison.Options
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
