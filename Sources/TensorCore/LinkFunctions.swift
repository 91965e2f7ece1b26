import LibC

/// Functions that turn scores into probabilities.
package enum LinkFunction {
  /// `1 / (1 + exp(−x))`
  package static func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

  /// The cumulative distribution function of the standard normal distribution.
  package static func probit(_ x: Double) -> Double { 0.5 * erfc(-x / 2.squareRoot()) }

  /// `exp(xᵢ) / Σ exp(xⱼ)`
  package static func softmax(_ values: [Double]) -> [Double] {
    let largest = values.max() ?? 0
    let powers = values.map { exp($0 - largest) }
    let sum = powers.reduce(0, +)
    return powers.map { $0 / sum }
  }
}
