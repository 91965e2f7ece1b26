import ArgumentParser
import Assay

/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(
    help: "Compare the structure only, and exit with 1 if anything differs.")
  var structure = false

  @Option(help: "The seed of random inputs.")
  var seed: UInt64 = 0

  /// Whether both files are models, by their content.
  static func areModels(_ files: ArraySlice<String>) throws -> Bool {
    try files.allSatisfy { try FileFormat.read($0).format == .coreML }
  }

  /// - Parameter options: those for the first model.
  /// - Returns: the comparison, and what became of the inputs where they were several.
  func compare(
    _ files: [String], quiet: Bool, _ options: (Model) throws -> Comparison.Options
  ) throws -> (ModelComparison, InputLoop?) {
    let first = try inFile(files[0]) { try Model(contentsOf: files[0]) }
    var all = ModelComparison.Options()
    all.comparison = try options(first)
    all.structureOnly = structure
    all.seed = seed
    let second = try inFile(files[1]) { try Model(contentsOf: files[1]) }
    let words = Array(files.dropFirst(2))
    guard !words.isEmpty, !structure,
      let list = try ManyInputs.list(words, for: first, expected: nil)
    else { return (try ModelComparison(first, second, inputs: words, options: all), nil) }
    let difference = try ModelDifference(first, second)
    let (summary, loop) = try Self.summary(
      try ModelPair(first, second, blobs: difference.blobs, all.comparison), first, list,
      all.comparison.images, title: "assay diff", quiet: quiet)
    return (ModelComparison(difference, summary), loop)
  }

  /// How far the answers of two models differ over many inputs.
  static func summary(
    _ pair: ModelPair, _ model: Model, _ list: InputList, _ images: ImageOptions?, title: String,
    quiet: Bool
  ) throws -> (ComparisonSummary, InputLoop) {
    var summary = ComparisonSummary()
    var loop = InputLoop(title, quiet: quiet)
    try loop.run(list, for: model, images: try images ?? ImageOptions(recordedIn: model)) {
      source, values, _ in
      let comparison = try pair.compare(values, top: 5)
      summary.add(source.name, comparison.outputs, notCompared: comparison.unexpected)
    }
    try loop.requireResults()
    return (summary, loop)
  }
}
