import ArgumentParser
import Assay

/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(
    help: "Compare only the structure, and exit with 1 if anything differs.")
  var structure = false

  /// - Parameters:
  ///   - options: the options for the first model.
  ///   - seed: the seed of random inputs.
  /// - Returns: the comparison, and the failures of several inputs.
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
      all.comparison.images, all.comparison.engine.hooks, title: "assay diff", quiet: quiet)
    return (ModelComparison(difference, summary), loop)
  }

  /// The differences between two models' predictions for many inputs.
  static func summary(
    _ pair: ModelPair, _ model: Model, _ list: InputList, _ images: ImageOptions?,
    _ hooks: EngineHooks, title: String, quiet: Bool
  ) throws -> (ComparisonSummary, InputLoop) {
    var summary = ComparisonSummary()
    var loop = InputLoop(title, quiet: quiet)
    try loop.run(
      list, for: model, images: try images ?? ImageOptions(recordedIn: model), hooks: hooks
    ) {
      source, values, _ in
      let comparison = try pair.compare(values)
      summary.add(source.name, comparison.outputs, notCompared: comparison.unexpected)
    }
    try loop.requireResults()
    return (summary, loop)
  }
}
