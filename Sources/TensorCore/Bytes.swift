/// Immutable bytes with an owner: an array, a mapped file, shared memory, or a slice of one of
/// those. Copying a `Bytes` copies a reference.
public struct Bytes: @unchecked Sendable {
  // `@unchecked`: the memory is never written after it has been passed here.
  let owner: AnyObject?
  private let base: UnsafeRawPointer?
  /// The number of bytes.
  public let count: Int

  /// Creates bytes that stay valid for as long as `owner` lives.
  public init(base: UnsafeRawPointer?, count: Int, owner: AnyObject?) {
    self.base = base
    self.count = count
    self.owner = owner
  }

  /// Creates empty bytes.
  public init() { self.init(base: nil, count: 0, owner: nil) }

  /// Copies the memory of an array.
  public init<Element: BitwiseCopyable>(_ elements: [Element]) {
    let buffer = AlignedBuffer(byteCount: elements.count * MemoryLayout<Element>.stride)
    elements.withUnsafeBytes { source in
      if let address = source.baseAddress {
        buffer.pointer.copyMemory(from: address, byteCount: source.count)
      }
    }
    self.init(
      base: UnsafeRawPointer(buffer.pointer),
      count: elements.count * MemoryLayout<Element>.stride, owner: buffer)
  }

  /// The bytes of `range`, sharing the owner. Precondition: `range` is within bounds.
  public subscript(range: Range<Int>) -> Bytes {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return Bytes(base: base.map { $0 + range.lowerBound }, count: range.count, owner: owner)
  }

  /// Calls `body` with the bytes, which are valid only during the call.
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    defer { withExtendedLifetime(owner) {} }
    return try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// The bytes as little-endian values; trailing bytes that do not fill an element are dropped.
  public func array<Element: BitwiseCopyable>(of type: Element.Type) -> [Element] {
    withUnsafeBytes { bytes in
      let elementCount = bytes.count / MemoryLayout<Element>.stride
      return [Element](unsafeUninitializedCapacity: elementCount) { target, initialized in
        if elementCount > 0, let source = bytes.baseAddress {
          UnsafeMutableRawPointer(target.baseAddress!).copyMemory(
            from: source, byteCount: elementCount * MemoryLayout<Element>.stride)
        }
        initialized = elementCount
      }
    }
  }
}

extension Bytes: Equatable {
  /// Whether both hold the same bytes, regardless of their owners.
  public static func == (a: Bytes, b: Bytes) -> Bool {
    a.count == b.count && a.withUnsafeBytes { x in b.withUnsafeBytes { y in x.elementsEqual(y) } }
  }
}
