/// Processes many inputs, with progress; failures are reported, and the other inputs continue.
struct InputLoop {
  let title: String
  let quiet: Bool
  private(set) var count = 0
  private var failed: [(input: String, error: String)] = []
  private var failures: InputFailures

  /// - Parameter json: whether failures are printed as lines of JSON among the results.
  init(_ title: String, quiet: Bool, json: Bool = false) {
    self.title = title
    self.quiet = quiet
    failures = InputFailures(json: json)
  }

  /// - Parameters:
  ///   - body: receives an input, its values, and its index.
  ///   - show: receives the result; its failure ends the loop, since it would fail for all others.
  mutating func run<Result>(
    _ list: InputList, _ reader: InputReader,
    _ body: (InputSource, [String: FeatureValue], Int) throws -> Result,
    then show: ((InputSource, Result) throws -> Void)? = nil
  ) throws {
    try run(ReadAhead(list, reader), of: list, then: show) { item, values, index in
      try body(item.source, values, index)
    }
  }

  /// Predicts each input, several concurrently if that is faster.
  ///
  /// - Parameter body: receives an input, its values, their prediction, and its index.
  mutating func run<Result>(
    _ list: InputList, _ predictor: Predictor,
    _ body: (InputSource, [String: FeatureValue], Prediction, Int) throws -> Result,
    then show: ((InputSource, Result) throws -> Void)? = nil
  ) throws {
    let items = ReadAhead(list, InputReader(predictor), predictor: predictor)
    try run(items, of: list, then: show) { item, values, index in
      try body(item.source, values, try items.prediction(item, values, predictor), index)
    }
  }

  private mutating func run<Result>(
    _ items: ReadAhead, of list: InputList, then show: ((InputSource, Result) throws -> Void)?,
    _ body: (ReadAhead.Item, [String: FeatureValue], Int) throws -> Result
  ) throws {
    let progress = Progress(title, enabled: !quiet)
    defer { progress.finish() }
    while let item = items.next() {
      count += 1
      var result: Result?
      do {
        result = try body(item, try item.values.get(), count - 1)
      } catch  where !list.isSingle && InputFailures.isOfOneInput(error, item) {
        progress.finish()
        failed.append((item.source.name, failures.report(error, for: item.source)))
      }
      if let show, let result {
        progress.finish()
        try show(item.source, result)
      }
      progress.update(count, of: list.count)
    }
  }

  /// Exits with code 2 if an input failed.
  func conclude() throws { try failures.conclude(of: count) }

  /// Exits if no input succeeded.
  func requireResults() throws {
    if failed.count == count { try conclude() }
    try require(count > 0, .mismatch, "no inputs were given")
  }

  /// The failed inputs and their errors.
  var json: JSONText { failed.json { ["input": $0.input, "error": $0.error] } }
}
