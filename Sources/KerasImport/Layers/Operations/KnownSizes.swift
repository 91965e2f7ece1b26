import TensorCore

/// A size of a tensor, or a number computed from sizes, as far as known at conversion time.
enum SymbolicSize: Sendable, Equatable {
  case known(Int)
  /// A number that cannot be a size, because it is a fraction or exceeds all limits.
  case number(Double)
  /// A multiple of the batch size.
  case batch(times: Int)
  /// Any other number that depends on the batch size.
  case ofBatch
  /// The product of `factors` sizes that are unknown until the model runs; nil for any other number
  /// that depends on such sizes.
  case unknown(factors: Int?)

  init(_ number: Double) {
    let whole = Int(exactly: number).flatMap { $0.magnitude <= Limits.dimension ? $0 : nil }
    self = whole.map { .known($0) } ?? .number(number)
  }

  var known: Int? { if case .known(let size) = self { size } else { nil } }

  /// The value, if it is known.
  var number: Double? {
    switch self {
    case .known(let size): Double(size)
    case .number(let number): number
    default: nil
    }
  }

  private var isOfBatch: Bool {
    switch self {
    case .batch, .ofBatch: true
    default: false
    }
  }

  /// The result of a computation that involves an unknown size.
  private static func open(_ a: SymbolicSize, _ b: SymbolicSize) -> SymbolicSize {
    a.isOfBatch || b.isOfBatch ? .ofBatch : .unknown(factors: nil)
  }

  /// `calculate(a, b)` if both are known; otherwise an unknown size.
  static func combined(
    _ a: SymbolicSize, _ b: SymbolicSize, _ calculate: (Double, Double) -> Double
  ) -> SymbolicSize {
    guard let x = a.number, let y = b.number else { return open(a, b) }
    return SymbolicSize(calculate(x, y))
  }

  static func product(_ a: SymbolicSize, _ b: SymbolicSize) -> SymbolicSize {
    switch (a, b) {
    case (.batch(let count), .known(let factor)), (.known(let factor), .batch(let count)):
      let times = count * factor
      return factor > 0 && times <= Limits.dimension ? .batch(times: times) : .ofBatch
    case (.unknown(let x?), .unknown(let y?)): return .unknown(factors: x + y)
    case (.unknown(let factors), .known(1)), (.known(1), .unknown(let factors)):
      return .unknown(factors: factors)
    default: return combined(a, b, *)
    }
  }

  /// - Parameter isWhole: whether to round the quotient down.
  static func quotient(_ a: SymbolicSize, _ b: SymbolicSize, isWhole: Bool) -> SymbolicSize {
    if case .batch(let count) = a, case .known(let divisor) = b, divisor > 0, count % divisor == 0 {
      return .batch(times: count / divisor)
    }
    if case .unknown = a, b == .known(1) { return a }
    return combined(a, b) { isWhole ? ($0 / $1).rounded(.down) : $0 / $1 }
  }
}

/// The values of a tensor that contains sizes, or a scalar size.
struct KnownSizes: Sendable, Equatable {
  var values: [SymbolicSize]
  var isScalar = false

  init(values: [SymbolicSize]) { self.values = values }

  init(_ scalar: SymbolicSize) { (values, isScalar) = ([scalar], true) }

  /// The value of a scalar.
  var scalar: SymbolicSize? { isScalar ? values.first : nil }

  /// The number that a scalar equals, if it is known.
  var number: Double? { scalar?.number }
}

extension KerasTensor {
  /// A tensor of sizes, which has no blob.
  init(sizes: KnownSizes) {
    self.init(blob: "", shape: [], layout: TensorLayout(axes: []), sizes: sizes)
  }

  /// Keras's shape, starting with the batch, which includes windows.
  var symbolicShape: [SymbolicSize] {
    let windows = leading?.windows ?? 1
    return fullShape.enumerated().map { axis, size in
      guard axis > 0 else { return size.map { .known($0 * windows) } ?? .batch(times: windows) }
      return size.map { .known($0) } ?? .unknown(factors: 1)
    }
  }
}
