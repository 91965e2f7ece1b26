import Assay

/// Works through many inputs, with progress: one that fails is reported by name, and the rest goes on.
struct InputLoop {
  let title: String
  let quiet: Bool
  private(set) var count = 0
  private var failed: [(input: String, error: String)] = []
  private var failures = InputFailures(json: false)

  init(_ title: String, quiet: Bool) {
    self.title = title
    self.quiet = quiet
  }

  /// - Parameter body: takes an input, its values, and its place among all.
  mutating func run(
    _ list: InputList, for model: Model, images: ImageOptions,
    _ body: (InputSource, [String: FeatureValue], Int) throws -> Void
  ) throws {
    let progress = Progress(title, enabled: !quiet)
    defer { progress.finish() }
    let items = ReadAhead(list, for: model, images: images)
    while let item = items.next() {
      do {
        try body(item.source, try item.values.get(), count)
      } catch  where InputFailures.isOfOneInput(error, item) {
        progress.finish()
        failures.report(error, for: item.source)
        failed.append((item.source.name, (error as? ModelError)?.description ?? ""))
      }
      count += 1
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
