import Testing

@testable import TensorCore

struct FloatValuesTests {
  /// Transposed values, individually computed from the definition.
  static func expected(_ shape: [Int], _ axes: [Int]) -> [Float] {
    var strides = [Int](repeating: 1, count: shape.count)
    for axis in shape.indices.dropLast().reversed() {
      strides[axis] = strides[axis + 1] * shape[axis + 1]
    }
    let resultShape = axes.map { shape[$0] }
    return (0..<shape.reduce(1, *)).map { position in
      var rest = position
      var offset = 0
      for axis in axes.indices.reversed() {
        offset += rest % resultShape[axis] * strides[axes[axis]]
        rest /= resultShape[axis]
      }
      return Float(offset)
    }
  }

  @Test(arguments: [
    ([37, 53], [1, 0]), ([16, 16], [1, 0]), ([3, 3, 20, 33], [3, 2, 0, 1]),
    ([1, 1, 17, 40], [3, 2, 0, 1]), ([2, 3, 4, 5, 6], [4, 0, 3, 1, 2]), ([6, 1, 7], [1, 2, 0]),
    ([5, 4, 3], [0, 2, 1]), ([5, 4, 3], [1, 0, 2]), ([3, 3, 18, 1], [2, 3, 0, 1]),
  ])
  func readsTransposed(_ shape: [Int], _ axes: [Int]) throws {
    let count = shape.reduce(1, *)
    let values = FloatValues((0..<count).map { Float($0) }).shaped(shape).transposed(axes)
    let expected = Self.expected(shape, axes)
    #expect(try values.array() == expected)
    // All positions at which the values may be cut into two pieces.
    for cut in stride(from: 0, through: count, by: max(1, count / 61)) {
      var pieces = [Float](repeating: -1, count: count)
      pieces.withUnsafeMutableBufferPointer { target in
        values.copy(0..<cut, to: target.baseAddress!)
        values.copy(cut..<count, to: target.baseAddress! + cut)
      }
      #expect(pieces == expected, "cut at \(cut)")
    }
  }

  /// A matrix that is read a few rows of the file at a time.
  @Test func copiesLargeMatricesInSlabs() throws {
    let (rows, columns) = (5000, 700)
    let values = FloatValues((0..<rows * columns).map { Float($0) }).shaped([rows, columns])
    let bytes = try values.transposed([1, 0]).contiguous()
    let isTransposed = bytes.withUnsafeBytes { bytes in
      let floats = bytes.bindMemory(to: Float.self)
      return (0..<columns).allSatisfy { column in
        (0..<rows).allSatisfy { floats[column * rows + $0] == Float($0 * columns + column) }
      }
    }
    #expect(bytes.count == rows * columns * 4 && isTransposed)
  }

  /// A dense kernel after the flattening of 9 × 7 pixels, and some of its rows.
  @Test func copiesKernelsBehindFlatteningsInSlabs() throws {
    let (shape, axes) = ([9, 7, 40, 600], [3, 2, 0, 1])
    let values = FloatValues((0..<1_512_000).map { Float($0) }).shaped(shape).transposed(axes)
    let expected = Self.expected(shape, axes)
    #expect(try values.contiguous().array(of: Float.self) == expected)
    let rows = try values.slice(0, 590..<600).contiguous().array(of: Float.self)
    #expect(rows == Array(expected[(590 * 2520)...]))
  }

  @Test func oneValueEverywhereTakesAnyShape() throws {
    let values = FloatValues(repeating: 3, shape: [4, 5]).shaped([20]).shaped([2, 5, 2])
    #expect(values.shape == [2, 5, 2])
    #expect(try values.transposed([1, 0, 2]).array() == [Float](repeating: 3, count: 20))
    #expect(try FloatValues(repeating: 2, shape: []).shaped([1, 1]).array() == [2])
  }

  @Test func equalityIgnoresTheWayOfStoring() throws {
    let values = FloatValues((0..<200_000).map { Float($0) }).shaped([400, 500])
    let turned = values.transposed([1, 0])
    #expect(try turned == FloatValues(turned.array()))
    #expect(turned != values)
    #expect(FloatValues([.nan]) == FloatValues([.nan]))
    #expect(FloatValues([0.0]) != FloatValues([-0.0]))
  }

  /// A repeated value is mapped once, however often it is repeated.
  @Test func mapsARepeatedValueOnce() throws {
    var calls = 0
    let halves = try FloatValues(repeating: 3, shape: [1 << 20, 5]).map { value in
      calls += 1
      return value / 2
    }
    #expect(calls == 1)
    #expect(halves.shape == [1 << 20, 5])
    #expect(halves == FloatValues(repeating: 1.5, shape: [1 << 20, 5]))
  }

  @Test func mapsTransposedValuesInReadingOrder() throws {
    let values = try FloatValues([0, 1, 2, 3, 4, 5]).shaped([2, 3]).transposed([1, 0]).map {
      10 * $0
    }
    #expect(values.shape == [3, 2])
    #expect(try values.array() == [0, 30, 10, 40, 20, 50])
  }

  /// The numbers 0…199,999 in column order, in several pieces.
  @Test func findsAndCountsInPieces() {
    let values = FloatValues((0..<200_000).map { Float($0) }).shaped([400, 500]).transposed([1, 0])
    #expect(values.contains { $0 == 199_999 } && !values.contains { $0 == 200_000 })
    #expect(values.count { $0 >= 150_000 } == 50_000)
    var reads = 0
    let hasColumn = values.contains { value in
      reads += 1
      return value == 500
    }
    #expect(hasColumn && reads == 2)
    #expect(!FloatValues([]).contains { _ in true })
    #expect(FloatValues(repeating: 2, shape: [300, 300]).count { $0 == 2 } == 90_000)
  }

  /// A repeated value takes no memory, but an array of copies would: 2⁴⁴ bytes exceed every limit.
  @Test func copiesAreCounted() {
    let many = FloatValues(repeating: 0, shape: [1 << 21, 1 << 21])
    for error in [
      #expect(throws: ModelError.self) { try many.array() },
      #expect(throws: ModelError.self) { try computedCount([1 << 21, 1 << 21], limit: .max) },
      #expect(throws: ModelError.self) { try [Float](zeros: 1 << 42) },
      #expect(throws: ModelError.self) { try [Float](zeros: .max) },
    ] { #expect(error?.code == .outOfMemory) }
    let error = #expect(throws: ModelError.self) { try computedCount([1 << 21, 1 << 21]) }
    #expect(error?.code == .limitExceeded)
  }
}
