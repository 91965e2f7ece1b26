/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(help: "Compare only the structure, and exit with 1 if anything differs.")
  var structure = false

  /// - Parameter loop: processes the inputs if there are several.
  /// - Returns: the comparison, and the failures of several inputs.
  static func compare(
    _ first: Model, _ second: Model, inputs words: [String], _ options: ModelComparison.Options,
    _ loop: InputLoop
  ) throws -> (ModelComparison, InputLoop?) {
    guard !words.isEmpty, !options.structureOnly,
      let list = try ManyInputs.list(words, for: first, expected: nil)
    else { return (try ModelComparison(first, second, inputs: words, options: options), nil) }
    let difference = try ModelDifference(first, second)
    var comparison = options.comparison
    comparison.topOfScores = options.topOfMany
    let pair = try ModelPair(first, second, blobs: difference.blobs, comparison)
    var loop = loop
    let summary = try summary(pair, first, list, comparison, &loop)
    return (ModelComparison(difference, summary), loop)
  }

  /// The differences between two models' predictions for many inputs.
  static func summary(
    _ pair: ModelPair, _ model: Model, _ list: InputList, _ options: Comparison.Options,
    _ loop: inout InputLoop
  ) throws -> ComparisonSummary {
    var summary = ComparisonSummary()
    let images = try options.images ?? ImageOptions(recordedIn: model)
    let reader = InputReader(model, images: images, hooks: options.engine.hooks)
    try loop.run(list, reader) { source, values, _ in
      let comparison = try pair.compare(values)
      summary.add(source.name, comparison.outputs, notCompared: comparison.unexpected)
    }
    try loop.requireResults()
    return summary
  }
}
