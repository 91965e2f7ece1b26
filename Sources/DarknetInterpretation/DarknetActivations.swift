import Interpretation
import LibC
import TensorCore

/// activations.h and activations.c.
enum DarknetActivations {
  static func function(_ name: String) throws -> (DoubleArray) throws -> DoubleArray {
    let name = name.lowercased()
    if let each = elementwise[name] { return { $0.map(each) } }
    switch name {
    case "normalize_channels":
      return { shares($0) { x, _ in max(x, 0) } }
    case "normalize_channels_softmax": return { shares($0) { x, _ in exp(x) } }
    case "normalize_channels_softmax_maxval":
      return { shares($0) { x, largest in exp(x - largest) } }
    default: throw ModelError(.unsupported, "the activation '\(name)' is not interpreted")
    }
  }

  /// Each value divided by the sum over the channels at its position plus 1e-4.
  private static func shares(
    _ x: DoubleArray, _ function: (Double, Double) -> Double
  ) -> DoubleArray {
    var result = x
    let (channels, area) = (x.shape[0], x.count(1..<x.rank))
    for position in 0..<area {
      let line = (0..<channels).map { $0 * area + position }
      let largest = line.map { x.values[$0] }.max() ?? 0
      var sum = 1e-4
      for index in line {
        result.values[index] = function(x.values[index], largest)
        sum += result.values[index]
      }
      for index in line { result.values[index] /= sum }
    }
    return result
  }

  static func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

  private static let elementwise: [String: @Sendable (Double) -> Double] = [
    "linear": { $0 },
    "logistic": { logistic($0) },
    "loggy": { 2 / (1 + exp(-$0)) - 1 },
    "relu": { max($0, 0) },
    "relu6": { min(max($0, 0), 6) },
    "elu": { $0 >= 0 ? $0 : expm1($0) },
    "selu": { $0 >= 0 ? 1.0507 * $0 : 1.0507 * 1.6732 * expm1($0) },
    "gelu": { 0.5 * $0 * (1 + tanh(0.797885 * $0 + 0.035677 * $0 * $0 * $0)) },
    "relie": { $0 > 0 ? $0 : 0.01 * $0 },
    "ramp": { max($0, 0) + 0.1 * $0 },
    "leaky": { $0 > 0 ? $0 : 0.1 * $0 },
    "revleaky": { $0 > 0 ? $0 : 0.1 * $0 },
    "tanh": { tanh($0) },
    "plse": { x in
      x < -4 ? 0.01 * (x + 4) : x > 4 ? 0.01 * (x - 4) + 1 : 0.125 * x + 0.5
    },
    "stair": { x in
      let whole = x.rounded(.down)
      let half = (x / 2).rounded(.down)
      return whole.truncatingRemainder(dividingBy: 2) == 0 ? half : x - whole + half
    },
    "hardtan": { min(max($0, -1), 1) },
    "lhtan": { x in x < 0 ? 0.001 * x : x > 1 ? 0.001 * (x - 1) + 1 : x },
    "swish": { $0 * logistic($0) },
    "mish": { x in x * tanh(max(x, 0) + log1p(exp(-abs(x)))) },
    "hard_mish": { x in x > 0 ? x : x > -2 ? x * x / 2 + x : 0 },
  ]
}
