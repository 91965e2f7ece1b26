/// Options for comparing two models.
struct ModelDiffArguments: ParsableArguments {
  @Flag(help: "Compare only the structure, and exit with 1 if anything differs.")
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
    return try Self.compare(
      first, second, inputs: words, all, topOfMany: 5, title: "assay diff", quiet: quiet)
  }

  /// - Parameter topOfMany: the number of best classes to compare if there are several inputs.
  static func compare(
    _ first: Model, _ second: Model, inputs words: [String], _ options: ModelComparison.Options,
    topOfMany: Int? = nil, title: String, quiet: Bool
  ) throws -> (ModelComparison, InputLoop?) {
    guard !words.isEmpty, !options.structureOnly,
      let list = try ManyInputs.list(words, for: first, expected: nil)
    else { return (try ModelComparison(first, second, inputs: words, options: options), nil) }
    let difference = try ModelDifference(first, second)
    var comparison = options.comparison
    comparison.topOfScores = topOfMany
    let (summary, loop) = try Self.summary(
      try ModelPair(first, second, blobs: difference.blobs, comparison), first, list,
      comparison.images, comparison.engine.hooks, title: title, quiet: quiet)
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
