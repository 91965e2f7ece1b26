/// The allowed difference of an element from the expected one: |a − b| ≤ absolute + relative · |b|.
public struct Tolerance: Sendable, Equatable {
  /// The allowed difference as a fraction of |b|.
  public var relative: Double
  /// The allowed difference on top of it.
  public var absolute: Double
  /// Whether to multiply the absolute part, which is meant for values up to 1, by the array's
  /// largest absolute value if that is greater.
  public var isScaled = false

  /// The tolerance |a − b| ≤ absolute + relative · |b|.
  public init(relative: Double, absolute: Double) {
    self.relative = relative
    self.absolute = absolute
  }

  /// The tolerance for an array whose largest finite absolute value is `largest`.
  public func scaled(to largest: Double) -> Tolerance {
    Tolerance(relative: relative, absolute: isScaled ? absolute * max(1, largest) : absolute)
  }

  /// The largest allowed difference from an expected element.
  public func allowed(_ expected: Double) -> Double { absolute + relative * abs(expected) }

  /// Tolerances by precision of the weights.
  public enum Profile: String, Sendable, CaseIterable {
    /// Weights in 32-bit floats.
    case fp32
    /// Halves have eleven significant bits: 2⁻¹¹ is 4.9e-4.
    case fp16
    /// Eight bits over the range of a weight: 1/256 is 4e-3, and the errors of several layers add
    /// up.
    case int8

    /// The tolerance for weights of this precision, scaled to the array.
    public var tolerance: Tolerance {
      var tolerance =
        switch self {
        case .fp32: Tolerance(relative: 1e-4, absolute: 1e-5)
        case .fp16: Tolerance(relative: 1e-3, absolute: 1e-3)
        case .int8: Tolerance(relative: 5e-2, absolute: 5e-2)
        }
      tolerance.isScaled = true
      return tolerance
    }
  }
}

/// The tolerances of a comparison: one for all outputs, with exceptions by name.
public struct Tolerances: Sendable, Equatable {
  /// The tolerance of every output without an exception.
  public var standard: Tolerance
  /// Relative tolerances for individual outputs.
  public var relative: [String: Double] = [:]
  /// Absolute tolerances for individual outputs.
  public var absolute: [String: Double] = [:]

  /// The tolerance for image files: a sample may differ by one of the 255 steps, because nearly
  /// equal values may round differently.
  public var image = Tolerance(relative: 0, absolute: 1)

  /// The same tolerance for every output.
  public init(_ standard: Tolerance = Tolerance.Profile.fp32.tolerance) { self.standard = standard }

  /// The tolerance of an output.
  public subscript(name: String) -> Tolerance { self[name, isImage: false] }

  /// The tolerance of an output; `isImage` if it is compared with an image file.
  public subscript(name: String, isImage isImage: Bool) -> Tolerance {
    var tolerance = isImage ? image : standard
    tolerance.relative = relative[name] ?? tolerance.relative
    if let absolute = absolute[name] {
      tolerance.absolute = absolute
      tolerance.isScaled = false
    }
    return tolerance
  }
}
