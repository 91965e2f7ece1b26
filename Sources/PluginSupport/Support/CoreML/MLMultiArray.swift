import Foundation

/// An array of numbers, with a shape and strides.
public final class MLMultiArray: NSObject, @unchecked Sendable {
  /// The first element.
  public let dataPointer: UnsafeMutableRawPointer
  /// The type of the elements.
  public let dataType: MLMultiArrayDataType
  /// Sizes of the axes, the outermost first.
  public let shape: [NSNumber]
  /// Elements between neighbors along each axis.
  public let strides: [NSNumber]
  /// Elements in all.
  public let count: Int

  private let sizes: [Int]
  private let steps: [Int]
  private let isDense: Bool
  private let release: (UnsafeMutableRawPointer) -> Void
  private let lock = NSLock()
  private var firstFault: String?

  /// Zeros.
  public convenience init(shape: [NSNumber], dataType: MLMultiArrayDataType) throws {
    let sizes = shape.map(\.intValue)
    let count = try Self.count(sizes)
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: max(1, count * dataType.byteCount), alignment: 64)
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: count * dataType.byteCount)
    try self.init(
      dataPointer: bytes, shape: shape, dataType: dataType,
      strides: Self.denseStrides(sizes).map { NSNumber(value: $0) }
    ) { $0.deallocate() }
  }

  /// Elements that somebody else owns.
  public init(
    dataPointer: UnsafeMutableRawPointer, shape: [NSNumber], dataType: MLMultiArrayDataType,
    strides: [NSNumber], deallocator: ((UnsafeMutableRawPointer) -> Void)? = nil
  ) throws {
    guard shape.count == strides.count else {
      throw MLModelError(
        description: "a shape of \(shape.count) axes with \(strides.count) strides")
    }
    sizes = shape.map(\.intValue)
    steps = strides.map(\.intValue)
    count = try Self.count(sizes)
    isDense = steps == Self.denseStrides(sizes)
    self.dataPointer = dataPointer
    self.dataType = dataType
    self.shape = shape
    self.strides = strides
    release = deallocator ?? { _ in }
  }

  /// One axis with the values of `data`.
  public convenience init<Values: Collection>(_ data: Values) throws
  where Values.Element == Float {
    try self.init(shape: [NSNumber(value: data.count)], dataType: .float32)
    for (index, value) in data.enumerated() { store(NSNumber(value: value), at: index) }
  }

  /// One axis with the values of `data`.
  public convenience init<Values: Collection>(_ data: Values) throws
  where Values.Element == Double {
    try self.init(shape: [NSNumber(value: data.count)], dataType: .double)
    for (index, value) in data.enumerated() { store(NSNumber(value: value), at: index) }
  }

  /// One axis with the values of `data`, truncated to 32 bits.
  public convenience init<Values: Collection>(_ data: Values) throws
  where Values.Element: FixedWidthInteger {
    try self.init(shape: [NSNumber(value: data.count)], dataType: .int32)
    for (index, value) in data.enumerated() {
      store(NSNumber(value: Int32(truncatingIfNeeded: value)), at: index)
    }
  }

  deinit { release(dataPointer) }

  private static func count(_ sizes: [Int]) throws -> Int {
    var count = 1
    for size in sizes {
      let (product, overflows) = count.multipliedReportingOverflow(by: size)
      guard size >= 0, !overflows, product < 1 << 40 else {
        throw MLModelError(description: "an array cannot have the shape \(sizes)")
      }
      count = product
    }
    return count
  }

  private static func denseStrides(_ sizes: [Int]) -> [Int] {
    var strides = [Int](repeating: 1, count: sizes.count)
    for axis in sizes.indices.dropLast().reversed() {
      strides[axis] = strides[axis + 1] * sizes[axis + 1]
    }
    return strides
  }
}

// MARK: - Subscripts

extension MLMultiArray {
  /// The element at a position in the order of the last axis first. One that is not there reads as 0,
  /// is not written, and is `fault`.
  public subscript(index: Int) -> NSNumber {
    get { offset(index).map(load(at:)) ?? 0 }
    set { if let offset = offset(index) { store(newValue, at: offset) } }
  }

  /// The element at an index for each axis.
  public subscript(key: [NSNumber]) -> NSNumber {
    get { offset(key).map(load(at:)) ?? 0 }
    set { if let offset = offset(key) { store(newValue, at: offset) } }
  }

  /// The first use of an index that the array does not have.
  public var fault: String? { lock.withLock { firstFault } }

  private func note(_ fault: @autoclosure () -> String) {
    lock.withLock { if firstFault == nil { firstFault = fault() } }
  }

  private func offset(_ index: Int) -> Int? {
    guard index >= 0, index < count else {
      note("the index \(index) is outside an array of \(count) elements, shape \(sizes)")
      return nil
    }
    if isDense { return index }
    var rest = index
    var offset = 0
    for axis in sizes.indices.reversed() {
      offset += rest % sizes[axis] * steps[axis]
      rest /= sizes[axis]
    }
    return offset
  }

  private func offset(_ key: [NSNumber]) -> Int? {
    var offset = 0
    var fits = key.count == sizes.count
    if fits {
      for axis in sizes.indices {
        let index = key[axis].intValue
        if index < 0 || index >= sizes[axis] { fits = false }
        offset &+= index &* steps[axis]
      }
    }
    guard fits else {
      note("the index \(key.map(\.intValue)) is outside an array of shape \(sizes)")
      return nil
    }
    return offset
  }

  private func load(at offset: Int) -> NSNumber {
    let address = dataPointer + offset * dataType.byteCount
    return switch dataType {
    case .double: NSNumber(value: address.load(as: Double.self))
    case .float32: NSNumber(value: address.load(as: Float.self))
    case .float16: NSNumber(value: Float(address.load(as: Float16.self)))
    case .int32: NSNumber(value: address.load(as: Int32.self))
    }
  }

  private func store(_ value: NSNumber, at offset: Int) {
    let address = dataPointer + offset * dataType.byteCount
    switch dataType {
    case .double: address.storeBytes(of: value.doubleValue, as: Double.self)
    case .float32: address.storeBytes(of: value.floatValue, as: Float.self)
    case .float16: address.storeBytes(of: Float16(value.floatValue), as: Float16.self)
    case .int32: address.storeBytes(of: value.int32Value, as: Int32.self)
    }
  }
}

// MARK: - Memory

extension MLMultiArray {
  /// Elements from the first to the last in memory, those between strides included.
  private var extent: Int {
    count == 0 ? 0 : 1 + zip(sizes, steps).reduce(0) { $0 + ($1.0 - 1) * abs($1.1) }
  }

  /// Calls `body` with the memory from the first to the last element.
  public func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: dataPointer, count: extent * dataType.byteCount))
  }

  /// `body` gets the strides as well.
  public func withUnsafeMutableBytes<Result>(
    _ body: (UnsafeMutableRawBufferPointer, [Int]) throws -> Result
  ) rethrows -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(
      UnsafeMutableRawBufferPointer(start: dataPointer, count: extent * dataType.byteCount), steps)
  }

  /// The same, as elements of `type`.
  public func withUnsafeBufferPointer<Scalar: MLShapedArrayScalar, Result>(
    ofType type: Scalar.Type, _ body: (UnsafeBufferPointer<Scalar>) throws -> Result
  ) rethrows -> Result {
    try withUnsafeBytes { try body($0.bindMemory(to: type)) }
  }

  /// The same, to be changed, and the strides.
  public func withUnsafeMutableBufferPointer<Scalar: MLShapedArrayScalar, Result>(
    ofType type: Scalar.Type, _ body: (UnsafeMutableBufferPointer<Scalar>, [Int]) throws -> Result
  ) rethrows -> Result {
    try withUnsafeMutableBytes { try body($0.bindMemory(to: type), $1) }
  }
}
