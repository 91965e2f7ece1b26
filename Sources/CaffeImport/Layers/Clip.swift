import CoreMLModel
import ImportSupport

extension CaffeWriter {
  /// min(max(x, lower), upper) with layers of specification 1: −max(−max(x, lower), −upper).
  mutating func clipped(
    _ blob: String, _ lower: Float, _ upper: Float, _ name: String, to output: String? = nil
  ) -> String {
    let raised =
      lower == 0
      ? add(name + "_lower", Activation(.relu), [blob])
      : unary(.threshold, blob, name + "_lower", alpha: lower, epsilon: 0)
    let lowered = unary(.threshold, raised, name + "_upper", alpha: -upper, scale: -1, epsilon: 0)
    return affine(lowered, -1, name, to: output)
  }
}

/// min(max(x, min), max)
enum ClipLayer: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "Clip", becomes: "unary threshold twice, the second of −x, activation linear",
    options: "`min`, `max`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let parameters = layer.parameters("clip_param")
    let (lower, upper) = (try parameters.float("min"), try parameters.float("max"))
    return layer.input.with(
      network.clipped(layer.input.blob, lower, upper, layer.name, to: layer.tops[0]))
  }
}

/// min(max(x, 0), 6)
enum ReLU6: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "ReLU6", becomes: "activation ReLU, unary threshold of −x, activation linear",
    options: "`relu6_param.threshold`, default 6")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let upper = try layer.parameters("relu6_param").float("threshold", default: 6)
    return layer.input.with(
      network.clipped(layer.input.blob, 0, upper, layer.name, to: layer.tops[0]))
  }
}

/// x > threshold ? 1 : 0
enum Threshold: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "Threshold",
    becomes: "activation linear and sigmoidHard: min(max(3e38 · (x − threshold), 0), 1)",
    options: "`threshold`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let threshold = try layer.parameters("threshold_param").float("threshold")
    let difference =
      threshold == 0
      ? input.blob : network.affine(input.blob, 1, -threshold, layer.part("difference"))
    let step = network.step(difference, layer.name, to: layer.tops[0])
    return input.with(step)
  }
}

extension CaffeWriter {
  /// x > 0 ? 1 : 0
  ///
  /// Differences of normal single-precision numbers are at least 1e-38.
  mutating func step(
    _ blob: String, atZero: Float = 0, _ name: String, to output: String? = nil
  ) -> String {
    add(name, Activation(.sigmoidHard(alpha: 3e38, beta: atZero)), [blob], to: output)
  }
}
