import TensorCore

/// y = gamma · (x − mean) / √(variance + epsilon) + beta, with one value of each per channel.
package struct Batchnorm: LayerParameters {
  package var channels = 0
  package var computeMeanVar = false
  package var instanceNormalization = false
  /// 0 means 1e-5.
  package var epsilon: Float = 0
  package var gamma: Weights?
  package var beta: Weights?
  package var mean: Weights?
  package var variance: Weights?

  package init() {}

  package static let fields: Fields = [
    .int("channels", \.channels),
    .bool("computeMeanVar", \.computeMeanVar),
    .bool("instanceNormalization", \.instanceNormalization),
    .float("epsilon", \.epsilon),
    .weights("gamma", \.gamma) { [$0.channels] },
    .weights("beta", \.beta) { [$0.channels] },
    .weights("mean", \.mean, isNeeded: { !$0.computeMeanVar }, { [$0.channels] }),
    .weights("variance", \.variance, isNeeded: { !$0.computeMeanVar }, { [$0.channels] }),
  ]

  package var effectiveEpsilon: Float { epsilon == 0 ? 1e-5 : epsilon }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    try shape.requireChannels(channels, "channels")
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(channels > 0, "channels", "0")
  }

  /// y = factor · x + offset for each channel, with given mean and variance:
  /// factor = gamma / √(variance + epsilon), offset = beta − mean · factor.
  package func channelAffine() throws -> (factors: [Double], offsets: [Double]) {
    func values(_ weights: Weights?, _ field: String) throws -> [Float] {
      guard let weights else {
        throw ModelError(.malformed, "the values are missing; \(channels) are needed", field: field)
      }
      return try NamedWeights(field, [channels], weights).decoded().array()
    }
    let (gamma, beta) = (try values(gamma, "gamma"), try values(beta, "beta"))
    let (mean, variance) = (try values(mean, "mean"), try values(variance, "variance"))
    let factors = gamma.indices.map {
      Double(gamma[$0]) / (Double(variance[$0]) + Double(effectiveEpsilon)).squareRoot()
    }
    return (factors, gamma.indices.map { Double(beta[$0]) - Double(mean[$0]) * factors[$0] })
  }
}
