import TensorCore

/// The comparison of an array with the expected one.
public struct OutputComparison: Sendable, Equatable {
  /// The name of the output, blob or array.
  public let name: String
  /// The shape of the prediction.
  public let actualShape: [Int]
  /// The expected shape.
  public let expectedShape: [Int]
  /// Nil if the shapes do not match.
  public let metrics: ErrorMetrics?
  /// Nil if not requested or if the array does not contain scores.
  public let classes: ClassAgreement?

  /// Whether the shapes match and every element is within the tolerance.
  public var agrees: Bool { metrics?.isWithinTolerance ?? false }

  /// Ignores axes of length 1.
  /// - Parameters:
  ///   - top: the number of best classes to compare; nil for none.
  ///   - peak: the largest possible value; nil for the largest actual value.
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

/// The comparison of a network's blobs with the expected ones, in the order of computation.
public struct BlobComparison: Sendable, Equatable {
  /// The blobs that exist on both sides.
  public let blobs: [OutputComparison]
  /// Expected blobs that the network does not compute.
  public let unknown: [String]
  /// Expected blobs that were paired because of their shapes and values.
  package var similar: [(expected: String, blob: String)] {
    pairedBySimilarity.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
  }
  private var pairedBySimilarity: [String: String] = [:]

  /// The first blob that differs, which shows where the error is.
  public var firstDifference: OutputComparison? { blobs.first { !$0.agrees } }

  /// Pairs arrays whose names are unknown with blobs of the same shape and similar values.
  ///
  /// - Parameters:
  ///   - expected: in the order of computation.
  ///   - order: the names of the network's blobs, in the order of computation.
  package init(
    order: [String], actual: [String: Tensor], expected: [(name: String, value: Tensor)],
    tolerances: Tolerances
  ) {
    let blobs = Set(order).intersection(actual.keys)
    let named = Set(expected.map(\.name)).intersection(blobs)
    let strange = expected.filter { !blobs.contains($0.name) }
    var seen = named
    let free = order.filter { blobs.contains($0) && seen.insert($0).inserted }
    let pairing = SimilarityPairing(
      expected: strange.map(\.value), actual: free.compactMap { actual[$0] })
    var known = Dictionary(
      expected.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    var paired: [String: String] = [:]
    for pair in pairing.pairs {
      let name = strange[pair.expected].name
      known[free[pair.actual]] = known.removeValue(forKey: name)
      paired[name] = free[pair.actual]
    }
    self.init(order: order, actual: actual, expected: known, tolerances: tolerances)
    pairedBySimilarity = paired
  }

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
