import TensorCore

/// What the worker sends to its parent: `magic`, then frames, the last of which is `finish` or
/// `failure`. A frame is its kind (1 byte), the payload's length (4 bytes) and the payload.
/// Integers are little-endian; a text is its length in 4 bytes and UTF-8.
package enum FrameKind: UInt8, Sendable {
  /// name: text. The following frames belong to this group, until its `endGroup`.
  case beginGroup = 1
  case endGroup = 2
  /// name: text, rank: 1, extents: 8 each, element kind: 1, then the elements, each a text, or the
  /// reason if the kind is `unsupported`.
  case attribute = 3
  /// name: text, type kind: 1, type bytes: 4, big-endian: 1, rank: 1, extents: 8 each, offset in
  /// the file: 8, or all ones if the elements must be read by the library.
  case dataset = 4
  /// name: text, reason: 1 and text. A link or dataset that is not read.
  case refused = 5
  /// index of the request: 4
  case numbers = 6
  /// index of the request: 4, reason: 1 and text
  case unreadable = 7
  case finish = 8
  /// reason: 1 and text. The file as a whole cannot be read.
  case failure = 9
  /// text. A part of the worker's sandbox is missing.
  case unconfined = 10
}

package enum FrameFormat {
  /// The last byte is the version of the protocol.
  package static let magic: [UInt8] = Array("ASSAYH5\u{3}".utf8)
  package static let noOffset = UInt64.max

  package enum ElementKind: UInt8, Sendable {
    case strings = 1
    case unsupported = 2
  }

  static let reasons: [ModelError.Code] = [.malformed, .unsupported, .limitExceeded, .outOfMemory]

  /// The codes that an error about the file may have; any other becomes `.malformed`.
  static func byte(for code: ModelError.Code) -> UInt8 { UInt8(reasons.firstIndex(of: code) ?? 0) }
}

/// Builds frames and passes them on in large pieces.
package struct FrameWriter: ~Copyable {
  private var buffer: [UInt8] = FrameFormat.magic
  private var written = 0
  private let flushThreshold = 1 << 20
  private let sink: ([UInt8]) throws -> Void

  package init(sink: @escaping ([UInt8]) throws -> Void) { self.sink = sink }

  /// Appends a frame. If `body` throws, nothing of the frame remains.
  package mutating func frame(
    _ kind: FrameKind, _ body: (inout FrameWriter) throws -> Void = { _ in }
  ) throws {
    let start = buffer.count
    do {
      buffer.append(kind.rawValue)
      integer(UInt32(0))
      try body(&self)
      guard kind == .failure || written + buffer.count <= HDF5Limits.frameBytes else {
        throw ModelError(
          .limitExceeded,
          "names and attributes exceed the limit of \(HDF5Limits.frameBytes) bytes")
      }
    } catch {
      buffer.removeLast(buffer.count - start)
      throw error
    }
    let length = buffer.count - start - 5
    for byte in 0..<4 { buffer[start + 1 + byte] = UInt8(truncatingIfNeeded: length >> (8 * byte)) }
    if buffer.count >= flushThreshold { try flush() }
  }

  package mutating func failure(_ error: ModelError) throws {
    try frame(.failure) { $0.reason(error) }
    try flush()
  }

  package mutating func finish() throws {
    try frame(.finish)
    try flush()
  }

  package mutating func byte(_ value: UInt8) { buffer.append(value) }

  package mutating func integer(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { buffer.append(contentsOf: $0) }
  }

  package mutating func text(_ value: String) {
    integer(UInt32(value.utf8.count))
    buffer.append(contentsOf: value.utf8)
  }

  package mutating func shape(_ extents: [Int]) {
    byte(UInt8(extents.count))
    for extent in extents { integer(Int64(extent)) }
  }

  package mutating func reason(_ error: ModelError) {
    byte(FrameFormat.byte(for: error.code))
    text(String(decoding: error.message.utf8.prefix(HDF5Limits.messageBytes / 4), as: UTF8.self))
  }

  private mutating func flush() throws {
    written += buffer.count
    try sink(buffer)
    buffer.removeAll(keepingCapacity: true)
  }
}
