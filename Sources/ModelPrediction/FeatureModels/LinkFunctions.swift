import LibC

/// Functions that make probabilities of margins.
enum LinkFunction {
  /// `1 / (1 + exp(−x))`
  static func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

  /// The distribution function of the standard normal distribution.
  static func probit(_ x: Double) -> Double { 0.5 * erfc(-x / 2.squareRoot()) }

  static func softmax(_ values: [Double]) -> [Double] {
    let largest = values.max() ?? 0
    let powers = values.map { exp($0 - largest) }
    let sum = powers.reduce(0, +)
    return powers.map { $0 / sum }
  }
}
