/// How the values of a weight are stored.
package enum WeightPrecision: Sendable, Hashable {
  case float32
  /// The nearest half, ties to even.
  case float16
  /// Codes of 1 to 8 bits.
  case codes(bits: Int, CodeMode)

  /// For example, `float16` or `4 bits, kmeans_lut`.
  package var name: String {
    switch self {
    case .float32: "float32"
    case .float16: "float16"
    case .codes(let bits, let mode): "\(bits) \(bits == 1 ? "bit" : "bits"), \(mode.name)"
    }
  }

  /// Whether channels of different magnitude lose much by sharing a table. This is true for evenly
  /// spaced tables and for tables of two or four values.
  package var wantsChannelScales: Bool {
    switch self {
    case .codes(_, .linearTable): true
    case .codes(let bits, .kMeansTable): bits <= 2
    case .codes, .float16, .float32: false
    }
  }
}

/// The meaning of the codes.
package enum CodeMode: Sendable, Hashable {
  /// scale · q + bias, one pair for each output channel.
  case linear
  /// scale · (q − 2ᵇⁱᵗˢ⁻¹), one scale for each output channel.
  case linearSymmetric
  /// A table of evenly spaced values, for the whole weight.
  case linearTable
  /// The table with the smallest squared error, for the whole weight.
  case kMeansTable
  /// A given table of 2ᵇⁱᵗˢ values.
  case table([Float])

  /// The name in coremltools.
  package var name: String {
    switch self {
    case .linear: "linear"
    case .linearSymmetric: "linear_symmetric"
    case .linearTable: "linear_lut"
    case .kMeansTable: "kmeans_lut"
    case .table: "custom_lut"
    }
  }
}

/// How scales are chosen.
package enum ScaleChoice: String, Sendable, CaseIterable {
  /// From the smallest to the largest value, like coremltools.
  case range
  /// A narrower or shifted range if that has a smaller squared error.
  case leastSquares = "least-squares"
}
