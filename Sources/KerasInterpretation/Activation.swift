import ByteFormats
import Interpretation
import KerasFormat
import LibC
import TensorCore

/// An activation function of keras/activations.py.
struct Activation {
  private let name: String
  private let run: LayerRun
  /// The same as a Lambda, if the file has the function's code.
  private var lambda: LayerRun?

  init(_ value: JSONValue, _ run: LayerRun) throws {
    if StoredFunction(value) != nil {
      var fields = JSONObject()
      fields["function"] = value
      lambda = run
      lambda?.className = "Lambda"
      lambda?.fields = .object(fields)
    }
    name = ClassIdentity.function(value) ?? ClassIdentity.name(value)
    self.run = run
    try run.require(
      name == "softmax" || lambda != nil || Self.function(name, run.generation) != nil,
      "the activation \(value.text.prefix(60)) is not interpreted")
  }

  func apply(_ array: DoubleArray, axis: Int = -1) throws -> DoubleArray {
    if var lambda {
      lambda.inputs = [KerasValue(array: array)]
      return try Lambdas.run(lambda)[0].array
    }
    if name == "softmax" { return Self.softmax(array, axis: axis) }
    guard let function = Self.function(name, run.generation) else { return array }
    return array.map(function)
  }

  static func softmax(_ array: DoubleArray, axis: Int) -> DoubleArray {
    guard let axis = array.axis(axis) else { return array }
    let (outer, size, inner) = array.split(at: axis)
    var result = array
    for block in 0..<outer {
      for column in 0..<inner {
        let start = block * size * inner + column
        var largest = -Double.infinity
        for index in 0..<size { largest = max(largest, array.values[start + index * inner]) }
        var sum = 0.0
        for index in 0..<size {
          let value = exp(array.values[start + index * inner] - largest)
          result.values[start + index * inner] = value
          sum += value
        }
        for index in 0..<size { result.values[start + index * inner] /= sum }
      }
    }
    return result
  }

  static func function(
    _ name: String, _ generation: KerasGeneration
  ) -> (@Sendable (Double) -> Double)? {
    switch name {
    case "linear": { $0 }
    case "relu": { max(0, $0) }
    case "relu6": { min(6, max(0, $0)) }
    case "sigmoid": { 1 / (1 + exp(-$0)) }
    // 0.2x + 0.5, clamped to [0, 1]; x / 6 + 0.5 in Keras 3.
    case "hard_sigmoid":
      hardSigmoid(slope: generation.major >= 3 ? 1.0 / 6 : 0.2)
    case "tanh": { tanh($0) }
    case "softplus": { max($0, 0) + log1p(exp(-abs($0))) }
    case "softsign": { $0 / (1 + abs($0)) }
    case "elu": { $0 > 0 ? $0 : expm1($0) }
    case "selu":
      { 1.0507009873554805 * ($0 > 0 ? $0 : 1.6732632423543772 * expm1($0)) }
    case "exponential", "exp": { exp($0) }
    case "swish", "silu": { $0 / (1 + exp(-$0)) }
    case "gelu": { 0.5 * $0 * (1 + erf($0 / 2.0.squareRoot())) }
    case "mish": { $0 * tanh(max($0, 0) + log1p(exp(-abs($0)))) }
    case "celu": { max(0, $0) + min(0, expm1($0)) }
    case "hard_shrink": { abs($0) > 0.5 ? $0 : 0 }
    case "hard_silu", "hard_swish": { $0 * min(6, max(0, $0 + 3)) / 6 }
    case "hard_tanh": { min(1, max(-1, $0)) }
    case "leaky_relu": { $0 > 0 ? $0 : 0.2 * $0 }
    case "log_sigmoid": { min($0, 0) - log1p(exp(-abs($0))) }
    case "soft_shrink": { $0 > 0.5 ? $0 - 0.5 : $0 < -0.5 ? $0 + 0.5 : 0 }
    case "sparse_plus": { $0 <= -1 ? 0 : $0 < 1 ? ($0 + 1) * ($0 + 1) / 4 : $0 }
    case "sparse_sigmoid": { $0 <= -1 ? 0 : $0 < 1 ? ($0 + 1) / 2 : 1 }
    case "squareplus": { ($0 + ($0 * $0 + 4).squareRoot()) / 2 }
    case "tanh_shrink": { $0 - tanh($0) }
    default: nil
    }
  }

  private static func hardSigmoid(slope: Double) -> @Sendable (Double) -> Double {
    { min(1, max(0, slope * $0 + 0.5)) }
  }
}
