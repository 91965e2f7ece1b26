import TensorCore

/// An array compared with the expected one.
public struct OutputComparison: Sendable, Equatable {
  /// The name of the output, blob or array.
  public let name: String
  /// The shape of the prediction.
  public let actualShape: [Int]
  /// The expected shape.
  public let expectedShape: [Int]
  /// Nil if the shapes do not match.
  public let metrics: ErrorMetrics?
  /// Nil unless requested, and if the array does not contain scores.
  public let classes: ClassAgreement?

  /// Whether the shapes match and every element is within the tolerance.
  public var agrees: Bool { metrics?.isWithinTolerance ?? false }

  /// Axes of length 1 do not count.
  /// - Parameters:
  ///   - top: how many best classes to compare; nil for none.
  ///   - peak: the largest value that there can be; nil for the largest that there is.
  public init(
    _ name: String, actual: Tensor, expected: Tensor, tolerance: Tolerance, top: Int? = nil,
    peak: Double? = nil
  ) {
    self.name = name
    actualShape = actual.shape
    expectedShape = expected.shape
    let fits = actual.hasAxes(of: expected.shape)
    metrics = fits ? ErrorMetrics(actual, expected, tolerance, peak: peak) : nil
    classes = fits ? top.flatMap { ClassAgreement(actual, expected, count: $0) } : nil
  }
}

/// The blobs of a network compared with the expected ones, in the order of computation.
public struct BlobComparison: Sendable, Equatable {
  /// The blobs that exist on both sides.
  public let blobs: [OutputComparison]
  /// Expected blobs that the network does not compute.
  public let unknown: [String]

  /// The first blob that differs, which shows where the error is.
  public var firstDifference: OutputComparison? { blobs.first { !$0.agrees } }

  /// - Parameter order: the names of the network's blobs, in the order of computation.
  public init(
    order: [String], actual: [String: Tensor], expected: [String: Tensor], tolerances: Tolerances
  ) {
    var seen = Set<String>()
    blobs = order.filter { seen.insert($0).inserted }.compactMap { name in
      guard let a = actual[name], let b = expected[name] else { return nil }
      return OutputComparison(name, actual: a, expected: b, tolerance: tolerances[name])
    }
    unknown = expected.keys.filter { !seen.contains($0) }.sorted()
  }
}
