/// How far an element may lie from the expected one: |a − b| ≤ absolute + relative · |b|.
public struct Tolerance: Sendable, Equatable {
  public var relative: Double
  public var absolute: Double

  public init(relative: Double, absolute: Double) {
    self.relative = relative
    self.absolute = absolute
  }

  public func allowed(_ expected: Double) -> Double { absolute + relative * abs(expected) }

  /// Tolerances by the precision of the weights.
  public enum Profile: String, Sendable, CaseIterable {
    case fp32
    /// Halves keep eleven bits: 2⁻¹¹ is 4.9e-4.
    case fp16
    /// Eight bits over the range of a weight: 1/256 is 4e-3, and errors of several layers add up.
    case int8

    public var tolerance: Tolerance {
      switch self {
      case .fp32: Tolerance(relative: 1e-4, absolute: 1e-5)
      case .fp16: Tolerance(relative: 1e-3, absolute: 1e-3)
      case .int8: Tolerance(relative: 5e-2, absolute: 5e-2)
      }
    }
  }
}

/// The tolerances of a comparison: one for every output, and exceptions by name.
public struct Tolerances: Sendable, Equatable {
  public var standard: Tolerance
  /// Relative tolerances of single outputs.
  public var relative: [String: Double] = [:]
  /// Absolute tolerances of single outputs.
  public var absolute: [String: Double] = [:]

  public init(_ standard: Tolerance = Tolerance.Profile.fp32.tolerance) {
    self.standard = standard
  }

  public subscript(name: String) -> Tolerance {
    Tolerance(
      relative: relative[name] ?? standard.relative, absolute: absolute[name] ?? standard.absolute)
  }
}
