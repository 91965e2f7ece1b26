import TensorCore

/// Parses frames without trusting them: every length is checked against the remaining bytes.
struct FrameReader {
  private let bytes: [UInt8]
  private var position: Int
  /// End of the current frame's payload.
  private var frameEnd: Int

  init(_ bytes: [UInt8]) throws {
    self.bytes = bytes
    let magic = FrameFormat.magic
    guard bytes.starts(with: magic) else {
      if bytes.starts(with: magic.dropLast()), bytes.count >= magic.count {
        throw ModelError(
          .internal,
          "the HDF5 worker uses version \(bytes[magic.count - 1]) of the protocol, "
            + "this program uses version \(magic[magic.count - 1])",
          hint: "install both from the same build")
      }
      throw FrameReader.garbled("it does not start like one")
    }
    position = magic.count
    frameEnd = position
  }

  static func garbled(_ detail: String) -> ModelError {
    ModelError(.malformed, "the HDF5 worker's answer is invalid (\(detail))")
  }

  /// Starts the next frame. The previous one must have been read completely.
  mutating func next() throws -> FrameKind {
    guard position == frameEnd else { throw Self.garbled("unread bytes in a frame") }
    guard bytes.count - position >= 5 else { throw Self.garbled("it is truncated") }
    guard let kind = FrameKind(rawValue: bytes[position]) else {
      throw Self.garbled("unknown frame \(bytes[position])")
    }
    position += 1
    frameEnd = position + 4
    let length = Int(try integer(UInt32.self))
    guard length <= bytes.count - position else { throw Self.garbled("it is truncated") }
    frameEnd = position + length
    return kind
  }

  /// Nothing may follow the last frame.
  func expectEnd() throws {
    guard position == frameEnd, position == bytes.count else {
      throw Self.garbled("bytes after the end")
    }
  }

  mutating func byte() throws -> UInt8 {
    guard position < frameEnd else { throw Self.garbled("a frame is too short") }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    let size = MemoryLayout<Value>.size
    guard frameEnd - position >= size else { throw Self.garbled("a frame is too short") }
    defer { position += size }
    return bytes.withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: Value.self))
    }
  }

  mutating func text(limit: Int) throws -> String {
    let length = Int(try integer(UInt32.self))
    guard length <= limit, length <= frameEnd - position else {
      throw Self.garbled("a text of \(length) bytes")
    }
    defer { position += length }
    guard let text = String(validating: bytes[position..<position + length], as: UTF8.self) else {
      throw Self.garbled("a text that is not UTF-8")
    }
    return text
  }

  mutating func name() throws -> String {
    let name = try text(limit: Limits.nameBytes)
    guard !name.isEmpty, name != ".", !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0)
    else { throw Self.garbled("the name '\(name)'") }
    return name
  }

  /// Extents and their product.
  mutating func shape(elementLimit: Int) throws -> (extents: [Int], count: Int) {
    let rank = Int(try byte())
    guard rank <= Limits.rank else { throw Self.garbled("rank \(rank)") }
    var extents: [Int] = []
    for _ in 0..<rank {
      let extent = try integer(Int64.self)
      guard extent >= 0, extent <= Limits.dimension else { throw Self.garbled("extent \(extent)") }
      extents.append(Int(extent))
    }
    return (extents, try checkedProduct(extents, limit: elementLimit))
  }

  /// Throws unless `count` items of at least `minimumSize` bytes each still fit into the frame.
  func expect(_ count: Int, itemsOf minimumSize: Int) throws {
    guard count >= 0, count <= (frameEnd - position) / minimumSize else {
      throw Self.garbled("\(count) elements in a frame that is too short for them")
    }
  }

  mutating func reason() throws -> ModelError {
    let code = Int(try byte())
    guard FrameFormat.reasons.indices.contains(code) else {
      throw Self.garbled("reason \(code)")
    }
    return ModelError(
      FrameFormat.reasons[code], try text(limit: HDF5Limits.messageBytes))
  }
}
