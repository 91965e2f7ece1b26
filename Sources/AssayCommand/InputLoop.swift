import Assay

/// Works through many inputs, with progress: one that fails is reported by name, and the rest goes on.
struct InputLoop {
  let title: String
  let quiet: Bool
  private(set) var count = 0
  private var failed: [(input: String, error: String)] = []
  private var failures: InputFailures

  /// - Parameter json: whether failures are lines of JSON among the results.
  init(_ title: String, quiet: Bool, json: Bool = false) {
    self.title = title
    self.quiet = quiet
    failures = InputFailures(json: json)
  }

  /// - Parameters:
  ///   - body: takes an input, its values, and its place among all.
  ///   - show: takes what it gives; where that fails, the others would, too.
  mutating func run<Result>(
    _ list: InputList, for model: Model, images: ImageOptions,
    _ body: (InputSource, [String: FeatureValue], Int) throws -> Result,
    then show: ((InputSource, Result) throws -> Void)? = nil
  ) throws {
    let progress = Progress(title, enabled: !quiet)
    defer { progress.finish() }
    let items = ReadAhead(list, for: model, images: images)
    while let item = items.next() {
      count += 1
      var result: Result?
      do {
        result = try body(item.source, try item.values.get(), count - 1)
      } catch  where !list.isSingle && InputFailures.isOfOneInput(error, item) {
        progress.finish()
        failures.report(error, for: item.source)
        failed.append((item.source.name, (error as? ModelError)?.description ?? ""))
      }
      if let show, let result {
        progress.finish()
        try show(item.source, result)
      }
      progress.update(count, of: list.count)
    }
  }

  /// Leaves with exit code 2 if an input failed.
  func conclude() throws { try failures.conclude(of: count) }

  /// Leaves if no input remains to speak of.
  func requireResults() throws {
    if failed.count == count { try conclude() }
    try require(count > 0, .mismatch, "no inputs were given")
  }

  /// The failed inputs and their errors.
  var json: JSONText {
    .array(
      failed.map { .object([("input", .string($0.input)), ("error", .string($0.error))]) })
  }
}
