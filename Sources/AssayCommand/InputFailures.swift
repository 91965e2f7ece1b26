/// Counts and reports inputs whose prediction failed; the other inputs continue.
struct InputFailures {
  let json: Bool
  private var count = 0
  private var hints: Set<String> = []
  /// The errors of each kind, by the message without its numbers: their number, and the first.
  private var kinds: [String: (count: Int, first: ModelError)] = [:]

  init(json: Bool) { self.json = json }

  /// Whether the input caused the error, so that other inputs may succeed.
  static func isOfOneInput(_ error: any Error, _ item: ReadAhead.Item) -> Bool {
    guard let error = error as? ModelError else { return false }
    switch error.code {
    case .mismatch, .limitExceeded, .missingFile: return true
    // If the input could be read, the error is the model's and the same for all inputs.
    case .malformed, .unsupported:
      if case .failure = item.values { return true } else { return false }
    case .usage, .cannotCreate, .cannotWrite, .outOfMemory, .timedOut, .internal: return false
    }
  }

  /// Reports that the prediction of `source` failed.
  ///
  /// - Returns: the error's text beside the input's name, which it does not repeat.
  mutating func report(_ error: any Error, for source: InputSource) -> String {
    guard var error = error as? ModelError else { return "" }
    count += 1
    var unnamed = error
    if unnamed.file == source.name { unnamed.file = nil }
    let text = unnamed.description
    if json {
      Console.print(JSONText.versioned(["input": source.name, "error": text]).text)
      return text
    }
    // Errors of single files differ; an error that repeats is reported once, and counted.
    if error.code == .mismatch {
      let kind = error.message.filter { !$0.isNumber }
      kinds[kind, default: (0, error)].count += 1
      if kinds[kind]?.count != 1 { return text }
    }
    error = error.inFile(source.name)
    // The hint is the same for most inputs.
    if let hint = error.hint, !hints.insert(hint).inserted { error.hint = nil }
    Console.report(error)
    return text
  }

  /// Reports how many of `total` failed, and exits with code 2 if any did.
  func conclude(of total: Int) throws {
    guard count > 0 else { return }
    let repeated = kinds.values.filter { $0.count > 1 }.sorted { $0.count > $1.count }
    for (number, first) in repeated {
      let size = first.message.firstMatch(of: /^the image is .*, but the model takes (.*)$/)
      Console.report(
        ModelError(
          .mismatch,
          size.map {
            "\(groupedText(number)) of \(counted(total, "image")) are not \($0.1): add --resize squash, "
              + "center-crop or fit"
          } ?? "\(groupedText(number)) of \(counted(total, "input")): \(first.message)"))
    }
    if repeated.reduce(0, { $0 + $1.count }) < count {
      Console.report(
        ModelError(.mismatch, "\(groupedText(count)) of \(counted(total, "input")) failed"))
    }
    throw ExitCode(2)
  }
}
