import ImportSupport
import LibC

/// (shift + scale · x) ^ power
enum Power: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "Power", becomes: "unary power; a linear activation if power · scale is 0",
    options: "`power`, `scale`, `shift`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let parameters = layer.parameters("power_param")
    let exponent = try parameters.float("power")
    let scale = try parameters.float("scale")
    let shift = try parameters.float("shift")
    if exponent * scale == 0 {
      return network.filled(input, exponent == 0 ? 1 : pow(shift, exponent), layer)
    }
    return input.with(
      network.unary(
        .power, input.blob, layer.name, alpha: exponent, shift: shift, scale: scale,
        epsilon: 0,
        to: layer.tops[0]))
  }
}

/// base ^ (shift + scale · x)
enum Exp: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "Exp", becomes: "unary exp; a linear activation if the result is constant",
    options: "`base`, `scale`, `shift`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let formula = try LogarithmicFormula(layer.parameters("exp_param"))
    let scale = Float(formula.logarithm * formula.scale)
    let shift = Float(formula.logarithm * formula.shift)
    if scale == 0 { return network.filled(input, exp(shift), layer) }
    return input.with(
      network.unary(
        .exp, input.blob, layer.name, shift: shift, scale: scale, epsilon: 0, to: layer.tops[0]))
  }
}

/// The logarithm to `base` of shift + scale · x
enum Log: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "Log",
    becomes: "unary log, and a linear activation if there is a base; only the latter if scale is 0",
    options: "`base`, `scale`, `shift`")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let formula = try LogarithmicFormula(layer.parameters("log_param"))
    if formula.scale == 0 {
      return network.filled(input, Float(log(formula.shift) / formula.logarithm), layer)
    }
    let isNatural = formula.logarithm == 1
    let logarithm = network.unary(
      .log, input.blob, isNatural ? layer.name : layer.part("natural"),
      shift: Float(formula.shift), scale: Float(formula.scale), epsilon: 0,
      to: isNatural ? layer.tops[0] : nil)
    if isNatural { return input.with(logarithm) }
    return input.with(
      network.affine(logarithm, Float(1 / formula.logarithm), layer.name, to: layer.tops[0]))
  }
}

/// The settings of Exp and Log.
private struct LogarithmicFormula {
  /// The natural logarithm of the base.
  let logarithm: Double
  let scale: Double
  let shift: Double

  init(_ parameters: CaffeParameters) throws {
    let base = try parameters.double("base")
    // −1 means e.
    try parameters.require(
      base == -1 || base > 0, "base", "the base \(base) is neither positive nor −1, which means e")
    logarithm = base == -1 ? 1 : log(base)
    scale = try parameters.double("scale")
    shift = try parameters.double("shift")
  }
}

extension CaffeWriter {
  /// A tensor with the input's shape, filled with one value.
  fileprivate mutating func filled(
    _ input: CaffeTensor, _ value: Float, _ layer: LayerCall
  ) -> CaffeTensor {
    input.with(affine(input.blob, 0, value, layer.name, to: layer.tops[0]))
  }
}
