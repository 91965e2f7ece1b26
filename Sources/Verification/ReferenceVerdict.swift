import Engine
import TensorCore

/// The cause of a difference, determined by a prediction in double precision.
public enum ReferenceVerdict: String, Sendable, Equatable {
  /// The prediction is within its tolerance.
  case agrees
  /// In double precision, the model's values match the expected ones within the tolerance, or
  /// within rounding, because the source framework rounds, too.
  case rounding
  /// The model's values differ in double precision, too: the cause is the model, not its execution.
  case model
  /// The engine differs from double precision by more than rounding explains.
  case engine

  /// Differences up to this fraction of the largest reference value count as rounding: about eight
  /// hundred units in the last place, which sums of thousands of products through dozens of layers
  /// can reach.
  static let roundingPart = 5e-5

  /// Precondition: the three arrays have the same number of elements, in the same order.
  package init(actual: Tensor, expected: Tensor, reference: ReferenceTensor, tolerance: Tolerance) {
    if ErrorMetrics(actual, expected, tolerance).isWithinTolerance {
      self = .agrees
      return
    }
    let largest = reference.elements.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
    let rounding = Tolerance(relative: 0, absolute: Self.roundingPart * largest)
    let shape = [reference.elements.count]
    self = reference.elements.withUnsafeBufferPointer { values in
      let engine = actual.withUnsafeElements {
        ErrorMetrics($0, values, shape: shape, rounding)
      }
      if !engine.isWithinTolerance { return .engine }
      let wide = Tolerance(
        relative: tolerance.relative, absolute: max(tolerance.absolute, rounding.absolute))
      let source = expected.withUnsafeElements {
        ErrorMetrics(values, $0, shape: shape, wide)
      }
      return source.isWithinTolerance ? .rounding : .model
    }
  }
}
