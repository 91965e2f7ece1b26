/// A dense array of `Float`, row-major, 64-byte aligned. Copying a `Tensor` shares its elements;
/// the first write to a shared tensor copies them.
public struct Tensor: @unchecked Sendable {
  /// Sizes of the axes, outermost first.
  public private(set) var shape: [Int]
  private var storage: AlignedBuffer
  /// The product of the sizes.
  public var count: Int { shape.reduce(1, *) }

  /// Creates a tensor of zeros. Precondition: the product of `shape` has been checked.
  public init(shape: [Int]) {
    let count = shape.reduce(1, *)
    self.shape = shape
    storage = AlignedBuffer(byteCount: count * 4)
    storage.pointer.initializeMemory(as: Float.self, repeating: 0, count: count)
  }

  /// Creates a tensor for a shape from a file. Throws if there are more elements than the limit, or
  /// the memory cannot be allocated. `fill` initializes every element.
  public init(
    checkedShape shape: [Int], _ fill: (UnsafeMutableBufferPointer<Float>) throws -> Void
  ) throws {
    let count = try checkedProduct(shape, limit: Limits.tensorElements)
    self.shape = shape
    storage = try AlignedBuffer(checkedByteCount: count * 4)
    try fill(
      UnsafeMutableBufferPointer(
        start: storage.pointer.bindMemory(to: Float.self, capacity: count), count: count))
  }

  /// Creates a tensor of `elements`. Precondition: their number is the product of `shape`.
  public init(shape: [Int], _ elements: [Float]) {
    precondition(shape.reduce(1, *) == elements.count)
    self.init(shape: shape)
    withUnsafeMutableElements { target in
      _ = target.update(from: elements)
    }
  }

  /// Borrowed elements, aligned for `Float`, which stay valid and unchanged for as long as the
  /// tensor or a copy of it exists. A write copies them first.
  ///
  /// Precondition: the number of elements is the product of `shape`.
  package init(borrowing elements: UnsafeBufferPointer<Float>, shape: [Int]) {
    precondition(shape.reduce(1, *) == elements.count)
    self.shape = shape
    storage = AlignedBuffer(borrowing: UnsafeRawBufferPointer(elements))
  }

  /// The same elements with another shape. Precondition: the counts agree.
  public func reshaped(_ newShape: [Int]) -> Tensor {
    precondition(newShape.reduce(1, *) == count)
    var tensor = self
    tensor.shape = newShape
    return tensor
  }

  /// A copy of the elements.
  public var elements: [Float] { withUnsafeElements { Array($0) } }

  /// Calls `body` with the elements, which are valid only during the call.
  public func withUnsafeElements<Result>(
    _ body: (UnsafeBufferPointer<Float>) throws -> Result
  ) rethrows -> Result {
    defer { withExtendedLifetime(storage) {} }
    return try body(
      UnsafeBufferPointer(
        start: UnsafePointer(storage.pointer.assumingMemoryBound(to: Float.self)), count: count))
  }

  /// Calls `body` with the elements for modification; shared elements are copied first.
  public mutating func withUnsafeMutableElements<Result>(
    _ body: (UnsafeMutableBufferPointer<Float>) throws -> Result
  ) rethrows -> Result {
    if storage.isBorrowed || !isKnownUniquelyReferenced(&storage) {
      let copy = AlignedBuffer(byteCount: storage.byteCount)
      copy.pointer.copyMemory(from: storage.pointer, byteCount: storage.byteCount)
      storage = copy
    }
    defer { withExtendedLifetime(storage) {} }
    return try body(
      UnsafeMutableBufferPointer(
        start: storage.pointer.assumingMemoryBound(to: Float.self), count: count))
  }

  /// Calls `body` with the elements for modification unless another tensor shares them.
  ///
  /// - Returns: whether `body` was called.
  package mutating func withUnsharedElements(
    _ body: (UnsafeMutableBufferPointer<Float>) throws -> Void
  ) rethrows -> Bool {
    guard !storage.isBorrowed, isKnownUniquelyReferenced(&storage) else { return false }
    try withUnsafeMutableElements(body)
    return true
  }
}

extension Tensor: Equatable {
  /// Whether shapes and elements are equal; NaN is not equal to anything.
  public static func == (a: Tensor, b: Tensor) -> Bool {
    a.shape == b.shape
      && a.withUnsafeElements { x in b.withUnsafeElements { y in x.elementsEqual(y) } }
  }
}

extension Tensor {
  /// Whether the shape equals `other`, apart from axes of length 1.
  package func hasAxes(of other: [Int]) -> Bool {
    shape.filter { $0 != 1 } == other.filter { $0 != 1 }
  }

  /// A copy with the elements along an axis in reverse order.
  package func reversed(_ axis: Int) -> Tensor {
    let inner = shape[(axis + 1)...].reduce(1, *)
    let length = shape[axis]
    var result = self
    withUnsafeElements { source in
      result.withUnsafeMutableElements { target in
        for start in stride(from: 0, to: source.count, by: max(1, length * inner)) {
          for index in 0..<length {
            let (from, to) = (start + index * inner, start + (length - 1 - index) * inner)
            for element in 0..<inner { target[to + element] = source[from + element] }
          }
        }
      }
    }
    return result
  }

  /// The distances between neighbors along each axis of row-major arrays.
  package static func strides(_ shape: [Int]) -> [Int] {
    var strides = [Int](repeating: 1, count: shape.count)
    for axis in shape.indices.dropLast().reversed() {
      strides[axis] = strides[axis + 1] * shape[axis + 1]
    }
    return strides
  }

  /// Row-major transposition: axis `i` of the result is axis `axes[i]` of `self`.
  public func transposed(_ axes: [Int]) -> Tensor {
    precondition(axes.sorted() == Array(shape.indices))
    let strides = Self.strides(shape)
    var result = Tensor(shape: axes.map { shape[$0] })
    let resultShape = result.shape
    let steps = axes.map { strides[$0] }
    withUnsafeElements { source in
      result.withUnsafeMutableElements { target in
        var index = [Int](repeating: 0, count: axes.count)
        var offset = 0
        for position in target.indices {
          target[position] = source[offset]
          var axis = axes.count - 1
          while axis >= 0 {
            index[axis] += 1
            offset += steps[axis]
            if index[axis] < resultShape[axis] { break }
            offset -= steps[axis] * resultShape[axis]
            index[axis] = 0
            axis -= 1
          }
        }
      }
    }
    return result
  }
}
