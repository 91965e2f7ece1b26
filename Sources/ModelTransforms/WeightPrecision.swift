/// How the values of a weight are stored.
package enum WeightPrecision: Sendable, Hashable {
  case float32
  /// The nearest half, ties to even.
  case float16
  /// Codes of 1 to 8 bits.
  case codes(bits: Int, CodeMode)

  /// Such as `float16` or `4 bits, kmeans_lut`.
  package var name: String {
    switch self {
    case .float32: "float32"
    case .float16: "float16"
    case .codes(let bits, let mode): "\(bits) \(bits == 1 ? "bit" : "bits"), \(mode.name)"
    }
  }

  /// Bits of a value, without scales and tables.
  package var bits: Int {
    switch self {
    case .float32: 32
    case .float16: 16
    case .codes(let bits, _): bits
    }
  }

  /// Whether output channels of different sizes suffer much from sharing a table: all tables of values
  /// at equal distances, and those of two or four values.
  package var wantsChannelScales: Bool {
    switch self {
    case .codes(_, .linearTable): true
    case .codes(let bits, .kMeansTable): bits <= 2
    case .codes, .float16, .float32: false
    }
  }
}

/// What codes stand for.
package enum CodeMode: Sendable, Hashable {
  /// scale · q + bias, a pair for each output channel.
  case linear
  /// scale · (q − 2ᵇⁱᵗˢ⁻¹), a scale for each output channel.
  case linearSymmetric
  /// A table of values at equal distances, for the whole weight.
  case linearTable
  /// The table with the least squared error, for the whole weight.
  case kMeansTable
  /// A given table of 2ᵇⁱᵗˢ values.
  case table([Float])

  /// The reference's name.
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
  /// From the least to the largest value, as the reference does.
  case range
  /// With less squared error where a narrower or shifted range gives that.
  case leastSquares = "least-squares"
}
