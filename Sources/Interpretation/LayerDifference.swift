import TensorCore

/// The difference between a blob of the model and the interpreter's value.
package struct LayerDifference: Sendable {
  /// max |model − interpreter|; infinite if the shapes differ, or if only one of them is NaN.
  package private(set) var largest = 0.0
  /// The largest finite value of the interpreter.
  package private(set) var scale = 0.0
  /// The element with the largest difference, by its index along each axis.
  package private(set) var index: [Int] = []
  package private(set) var actual = 0.0
  package private(set) var expected = 0.0
  package let actualShape: [Int]
  package let expectedShape: [Int]

  /// Whether the shapes are equal, ignoring axes of length 1.
  package var fits: Bool { actualShape.filter { $0 != 1 } == expectedShape.filter { $0 != 1 } }

  /// Differences up to this value count as zero. Core ML's recurrent layers clip the arguments of
  /// sigmoids to ±50, which turns 0 into 2e-22.
  package static let smallest = 1e-20

  /// The largest difference relative to the largest value.
  package var relative: Double {
    largest <= Self.smallest ? 0 : scale > 0 ? largest / scale : largest
  }

  /// - Parameters:
  ///   - mayOverflow: whether values are so large that intermediate results may overflow in
  ///     single precision.
  ///   - isOpen: whether the element at an index may have any value.
  package init(
    _ actual: Tensor, _ expected: DoubleArray, mayOverflow: Bool = false,
    isOpen: ((Int) -> Bool)? = nil
  ) {
    actualShape = actual.shape
    expectedShape = expected.shape
    guard fits else {
      largest = .infinity
      return
    }
    var worst: Int?
    actual.withUnsafeElements { a in
      for (position, value) in expected.values.enumerated() {
        if value.isFinite { scale = max(scale, abs(value)) }
        if mayOverflow && !a[position].isFinite || isOpen?(position) == true { continue }
        let difference = Self.difference(Double(a[position]), value)
        if difference > largest { (largest, worst) = (difference, position) }
      }
      guard let worst else { return }
      (self.actual, self.expected) = (Double(a[worst]), expected.values[worst])
      index = Tensor.strides(expectedShape).enumerated().map {
        worst / $1 % max(1, expectedShape[$0])
      }
    }
  }

  /// The absolute difference; 0 where a value that exceeds single precision is not finite in it.
  private static func difference(_ actual: Double, _ expected: Double) -> Double {
    if actual.isFinite, expected.isFinite { return abs(actual - expected) }
    if actual.isNaN, expected.isNaN { return 0 }
    let isBeyond = !expected.isFinite || abs(expected) > 1e30
    return !actual.isFinite && isBeyond ? 0 : .infinity
  }
}
