import ArgumentParser
import Assay

/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(
    help: "Compare only the structure, and exit with 1 if anything differs.")
  var structure = false

  /// - Parameters:
  ///   - options: those for the first model.
  ///   - seed: that of random inputs.
  /// - Returns: the comparison, and what became of the inputs where they were several.
  func compare(
    _ first: Model, _ second: Model, inputs words: [String], _ options: Comparison.Options,
    seed: UInt64, quiet: Bool
  ) throws -> (ModelComparison, InputLoop?) {
    var all = ModelComparison.Options()
    all.comparison = options
    all.structureOnly = structure
    all.seed = seed
    guard !words.isEmpty, !structure,
      let list = try ManyInputs.list(words, for: first, expected: nil)
    else { return (try ModelComparison(first, second, inputs: words, options: all), nil) }
    let difference = try ModelDifference(first, second)
    all.comparison.topOfScores = 5
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
      let comparison = try pair.compare(values)
      summary.add(source.name, comparison.outputs, notCompared: comparison.unexpected)
    }
    try loop.requireResults()
    return (summary, loop)
  }
}
