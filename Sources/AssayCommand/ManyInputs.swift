/// Compares the predictions of a model for many inputs with the expected arrays or classes.
struct ManyInputs {
  private enum Result {
    case arrays(ComparisonSummary)
    case classes(Classification)
  }

  private let result: Result
  let loop: InputLoop

  /// The inputs of `words` if there are several, or if outputs of several are expected; else nil.
  static func list(_ words: [String], for model: Model, expected: String?) throws -> InputList? {
    let list = try InputList(
      words, for: model, namesFiles: true, line: InputList.standardInput(for: words))
    let isOfSeveral = expected.map {
      $0 == InputLabels.folders || Folder.isFolder($0) || InputLabels.isTable($0)
    }
    return list.isSingle && isOfSeveral != true ? nil : list
  }

  init(
    _ model: Model, _ list: InputList, expected: String, options: Comparison.Options,
    _ loop: InputLoop
  ) throws {
    try require(
      options.layers == nil && !options.reference, .usage,
      "--layers and --reference take a single input")
    let predictor = try Predictor(model: model, options: options.predictor)
    var loop = loop
    if expected == InputLabels.folders || InputLabels.isTable(expected) {
      var evaluation = ClassEvaluation(
        try InputLabels(expected, inputs: list),
        names: try ClassNames(file: nil, model: predictor.model, keepsIdentifiers: true)?.names,
        top: options.top ?? 5)
      try loop.run(list, predictor) { source, _, prediction, _ in
        try evaluation.add(prediction, of: source)
      }
      try loop.requireResults()
      result = .classes(evaluation.result ?? Classification(classes: [], top: 0, mistakeLimit: 0))
    } else {
      let expected = try ExpectedOfInputs(expected, count: list.count)
      var summary = ComparisonSummary()
      try loop.run(list, predictor) { source, _, prediction, index in
        let (arrays, file) = try expected.arrays(of: source, at: index)
        summary.add(
          source.name,
          try Comparison.compare(
            prediction, expected: arrays, file: file, options: options,
            states: predictor.stateOutputs))
      }
      try loop.requireResults()
      result = .arrays(summary)
    }
    self.loop = loop
  }

  var matches: Bool {
    switch result {
    case .arrays(let summary): summary.matches
    case .classes(let classification): classification.count == classification.countCorrect
    }
  }

  var text: String {
    switch result {
    case .arrays(let summary): SummaryText(summary: summary).text()
    case .classes(let classification): ClassificationText(classification).summary
    }
  }

  var json: JSONText {
    switch result {
    case .arrays(let summary): SummaryText(summary: summary).json(failed: loop.json)
    case .classes(let classification): ClassificationText(classification).json(failed: loop.json)
    }
  }
}
