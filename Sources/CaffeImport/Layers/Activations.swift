import CoreMLModel
import Formulas
import ImportSupport
import LibC

extension CaffeLayerType {
  /// (shift + scale · x) ^ power
  static let power = single(
    SourceLayer(
      "Power", becomes: "unary power; a linear activation if power · scale is 0",
      options: "`power`, `scale`, `shift`"), batchAxis: elements
  ) { layer, network in
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

  /// base ^ (shift + scale · x)
  static let exponential = single(
    SourceLayer(
      "Exp", becomes: "unary exp; a linear activation if the result is constant",
      options: "`base`, `scale`, `shift`"), batchAxis: elements
  ) { layer, network in
    let input = layer.input
    let formula = try LogarithmicFormula(layer.parameters("exp_param"))
    let scale = Float(formula.logarithm * formula.scale)
    let shift = Float(formula.logarithm * formula.shift)
    if scale == 0 { return network.filled(input, exp(shift), layer) }
    return input.with(
      network.unary(
        .exp, input.blob, layer.name, shift: shift, scale: scale, epsilon: 0, to: layer.tops[0]))
  }

  /// The logarithm to `base` of shift + scale · x
  static let logarithm = single(
    SourceLayer(
      "Log",
      becomes:
        "unary log, and a linear activation if there is a base; only the latter if scale is 0",
      options: "`base`, `scale`, `shift`"), batchAxis: elements
  ) { layer, network in
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

  /// min(max(x, min), max)
  static let clip = single(
    SourceLayer(
      "Clip", becomes: "unary threshold twice, the second of −x, activation linear",
      options: "`min`, `max`"), batchAxis: elements
  ) { layer, network in
    let parameters = layer.parameters("clip_param")
    let (lower, upper) = (try parameters.float("min"), try parameters.float("max"))
    return layer.input.with(
      network.clipped(layer.input.blob, lower, upper, layer.name, to: layer.tops[0]))
  }

  /// min(max(x, 0), 6)
  static let relu6 = single(
    SourceLayer(
      "ReLU6", becomes: "activation ReLU, unary threshold of −x, activation linear",
      options: "`relu6_param.threshold`, default 6"), batchAxis: elements
  ) { layer, network in
    let upper = try layer.parameters("relu6_param").float("threshold", default: 6)
    return layer.input.with(
      network.clipped(layer.input.blob, 0, upper, layer.name, to: layer.tops[0]))
  }

  /// x > threshold ? 1 : 0
  static let threshold = single(
    SourceLayer(
      "Threshold",
      becomes: "activation linear and sigmoidHard: min(max(3e38 · (x − threshold), 0), 1)",
      options: "`threshold`"), batchAxis: elements
  ) { layer, network in
    let input = layer.input
    let threshold = try layer.parameters("threshold_param").float("threshold")
    let difference =
      threshold == 0
      ? input.blob : network.affine(input.blob, 1, -threshold, layer.part("difference"))
    let step = network.step(difference, layer.name, to: layer.tops[0])
    return input.with(step)
  }

  /// [relu(x), relu(−x)] along an axis, where relu(x) = max(0, x) + negative_slope · min(0, x)
  /// (Shang et al. 2016).
  static let concatenatedReLU = CaffeLayerType(
    SourceLayer(
      "CReLU", becomes: "activation ReLU or leakyReLU, of x and of −x; concat",
      options:
        "`crelu_param.axis` or `concat_axis`, default 1; `crelu_param.negative_slope`"),
    batchAxis: besides { layer in
      try layer.requireBottoms(1...1)
      return try layer.joinedAxis("crelu_param", legacy: "concat_axis", default: 1)
    }
  ) { layer, network in
    let input = network.five(try layer.onlyInput, for: layer.name)
    let parameters = layer.parameters("crelu_param")
    let axis = try layer.joinedAxis("crelu_param", legacy: "concat_axis", default: 1)
    let slope = try parameters.float("negative_slope", default: 0)
    let function = Activation(slope == 0 ? .relu : .leakyReLU(alpha: slope))
    let opposite = network.affine(input.blob, -1, layer.part("opposite"))
    let halves = [
      network.add(layer.part("positive"), function, [input.blob]),
      network.add(layer.part("negative"), function, [opposite]),
    ]
    return [
      try network.joined(
        halves.map { input.with($0) }, axis: axis, layer, output: layer.tops[0])
    ]
  }

  /// max(0, x) + a[c] · min(0, x)
  static let prelu = single(
    SourceLayer("PReLU", becomes: "activation PReLU", options: "`channel_shared`")
  ) { layer, network in
    let input = layer.input
    try layer.require(input.shape.count >= 2, "its bottom \(input.shapeText) has no channel axis")
    let isShared = try layer.parameters("prelu_param").bool("channel_shared")
    let alpha = Weights(
      try layer.vector(0, "alpha", count: isShared ? 1 : input.shape[1]))
    return network.withChannels(input, 1, layer) { network, moved, output in
      network.add(layer.name, Activation(.prelu(alpha: alpha)), [moved.blob], to: output)
    }
  }

  /// x, or (1 − dropout_ratio) · x if training does not scale the kept values: `scale_train: false`
  /// of caffe-fast-rcnn, as in synopsys-caffe's `dropout_layer.cpp`
  static let dropout = single(
    SourceLayer(
      "Dropout", becomes: "nothing; activation linear if `scale_train` is false",
      options:
        "`dropout_ratio`, `scale_train`; `sample_weights_test` becomes the mean of its samples"
    )
  ) { layer, network in
    let parameters = layer.parameters("dropout_param")
    let ratio = try parameters.float("dropout_ratio")
    try parameters.require(
      ratio > 0 && ratio < 1, "dropout_ratio", "\(ratio) is not between 0 and 1")
    guard try !parameters.bool("scale_train", default: true) else { return layer.input }
    if let note = try dropoutNote(layer) { network.notes.append(note) }
    return layer.input.with(
      network.affine(layer.input.blob, 1 - ratio, layer.name, to: layer.tops[0]))
  }

  /// Whether the layer changes its input.
  static func dropoutScales(_ layer: LayerCall) -> Bool {
    (try? layer.parameters("dropout_param").bool("scale_train", default: true)) != true
  }

  /// A note if the layer also drops random elements in the test phase, as in Bayesian SegNet.
  static func dropoutNote(_ layer: LayerCall) throws -> String? {
    guard try layer.parameters("dropout_param").bool("sample_weights_test", default: false) else {
      return nil
    }
    return "layer '\(layer.name)' (Dropout) drops elements at random in Caffe's test phase "
      + "(sample_weights_test); the model uses their mean instead"
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

  /// x > 0 ? 1 : 0
  ///
  /// Differences of normal single-precision numbers are at least 1e-38.
  mutating func step(
    _ blob: String, atZero: Float = 0, _ name: String, to output: String? = nil
  ) -> String {
    add(name, Activation(.sigmoidHard(alpha: 3e38, beta: atZero)), [blob], to: output)
  }

  /// Moves Caffe's axis `axis` to Core ML's channel axis for `body`, which keeps shapes, and back
  /// afterward.
  mutating func withChannels(
    _ tensor: CaffeTensor, _ axis: Int, _ layer: LayerCall,
    _ body: (inout CaffeWriter, CaffeTensor, String?) throws -> String
  ) rethrows -> CaffeTensor {
    let input = five(tensor, for: layer.name)
    let moved = placed(input, axis: axis, in: Placement.channel, for: layer.name)
    let isUnmoved = moved.blob == input.blob
    let result = moved.with(try body(&self, moved, isUnmoved ? layer.tops[0] : nil))
    return isUnmoved ? result : placed(result, axes: input.axes, for: layer.part("back"))
  }
}
