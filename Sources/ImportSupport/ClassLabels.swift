import CoreMLModel
import TensorCore

extension NeuralNetworkClassifier.ClassLabels {
  public var count: Int {
    switch self {
    case .string(let labels): labels.count
    case .int64(let labels): labels.count
    }
  }

  /// Labels from a file: a JSON list of strings or of integers, or text, one a line. Blank lines at
  /// the end do not count.
  public init(contentsOf path: String) throws {
    self = try inFile(path) {
      let bytes = try MappedFile.read(path, limit: Limits.jsonBytes).array(of: UInt8.self)
      return try Self(parsing: bytes)
    }
  }

  public init(parsing bytes: [UInt8]) throws {
    let blank: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    if bytes.first(where: { !blank.contains($0) }) == UInt8(ascii: "[") {
      self = try Self(JSONValue(parsing: bytes))
      return
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ModelError(.malformed, "the labels are not UTF-8 text")
    }
    var lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
    if let first = lines.first, first.hasPrefix("\u{FEFF}") { lines[0].removeFirst() }
    while let last = lines.last, last.allSatisfy(\.isWhitespace) { lines.removeLast() }
    guard !lines.isEmpty else { throw ModelError(.malformed, "no labels in it") }
    self = .string(lines)
  }

  private init(_ json: JSONValue) throws {
    let elements = json.array ?? []
    if elements.isEmpty { throw ModelError(.malformed, "no labels in it") }
    let strings = elements.compactMap(\.string)
    if strings.count == elements.count {
      self = .string(strings)
      return
    }
    let integers = elements.compactMap { if case .int(let value) = $0 { value } else { nil } }
    guard integers.count == elements.count else {
      throw ModelError(
        .malformed, "labels must be all strings or all integers",
        hint: "write numbers that are names in quotation marks")
    }
    self = .int64(integers)
  }
}
