import CoreMLModel
import ImportSupport

/// An elementwise function, or softmax.
enum ActivationLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Activation", becomes: "see the functions below",
    options: "`activation`, or a layer used as an activation")
  static let maskPolicy = MaskPolicy.passes
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let function = try ActivationFunction(configuration)
    return conversion { call, network in
      [try network.apply(function, call.input, name: call.name, call)]
    }
  }
}

/// Elementwise functions with one parameter: x above a threshold, and below it alpha · x
/// (LeakyReLU), alpha · (eˣ − 1) (ELU) or 0 (ThresholdedReLU).
enum RectifierLayer: KerasLayer {
  static let classes = [
    SourceLayer("LeakyReLU", becomes: "activation leakyReLU"),
    SourceLayer("ELU", becomes: "activation ELU", options: "`alpha`"),
    SourceLayer("ThresholdedReLU", becomes: "activation thresholdedReLU", options: "`theta`"),
  ]
  static let maskPolicy = MaskPolicy.passes
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let function: Activation.Function
    let version = configuration.version
    switch configuration.kind {
    case "LeakyReLU":
      let alpha = try configuration.double(
        "alpha", "negative_slope", default: 0.3, atLeast: version.isAtLeast(3, 0) ? 0 : -.infinity)
      function = .leakyReLU(alpha: Float(alpha))
    case "ELU": function = .elu(alpha: Float(try configuration.double("alpha", default: 1)))
    default:
      function = .thresholdedReLU(
        alpha: Float(
          try configuration.double(
            "theta", default: 1, atLeast: version.isAtLeast(2, 4) ? 0 : -.infinity)))
    }
    return conversion { call, network in
      let input = try call.input
      return [input.with(network.add(call.name, Activation(function), [input.blob]))]
    }
  }
}

/// exp(x) / Σ exp(x) over one axis, or over several axes together.
enum SoftmaxLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Softmax",
    becomes: "softmax, wrapped in permutes; over several axes max, exp, sum and a product",
    options: "any `axis`; a `mask` argument", refused: "a mask propagated by its input")
  static let maskPolicy = MaskPolicy.passes
  static let leadingAxes = LeadingAxesPolicy.keeps

  private static func softmax(
    _ input: KerasTensor, _ axes: [Int], _ name: String, _ call: LayerCall,
    _ network: inout KerasWriter
  ) throws -> KerasTensor {
    var tensor = input
    let indices = try axes.map { try call.axis($0, of: tensor) }.sorted()
    if indices.count == 1 { return network.softmax(tensor, axis: indices[0], name) }
    let layout = tensor.layout
    let axes = try ReducibleAxes(indices, of: tensor, call)
    tensor = network.relaid(tensor, to: axes.layout, for: name)
    let largest = network.reduced(.max, axes.reduction, tensor.blob, name + "__max__")
    let exponentials = network.unary(
      .exp, network.difference(tensor.blob, largest, name + "__difference__"),
      name + "__exp__")
    let sum = network.reduced(.sum, axes.reduction, exponentials, name + "__sum__")
    let inverse = network.unary(.power, sum, name + "__inverse__", alpha: -1)
    tensor.blob = network.product(exponentials, inverse, name)
    return network.relaid(tensor, to: layout, for: name + "_back")
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let axes = try configuration.ints("axis") ?? [-1]
    return conversion { call, network in
      guard let given = call.tensor(0, "inputs") else { throw call.error("it has no inputs") }
      guard let mask = call.tensor(1, "mask") else {
        try call.require(
          given.mask == nil,
          unsupported: "its input has a mask, and softmax over some of the steps is not supported")
        return [try softmax(given, axes, call.name, call, &network)]
      }
      // Masked elements become −1e9.
      let (inputs, result) = try network.merged(
        call.with(name: call.name, inputs: [given, mask]))
      let factor = network.counting(inputs[1].blob, call.name + "__counts__")
      var masked = result
      masked.mask = nil
      masked.blob = network.sum(
        [
          network.product(inputs[0].blob, factor, call.name + "__kept__"),
          network.affine(factor, 1e9, -1e9, call.name + "__offset__"),
        ], call.name + "__masked__")
      guard call.version.isAtLeast(3, 14) else {
        return [try softmax(masked, axes, call.name, call, &network)]
      }
      var output = try softmax(masked, axes, call.name + "__softmax__", call, &network)
      output = network.relaid(output, to: result.layout, for: call.name + "_softmax")
      output.blob = network.product(output.blob, factor, call.name)
      return [output]
    }
  }
}

extension LayerCall {
  /// The nonnegative index of an axis; negative ones count from the end. Throws for the batch axis.
  func axis(_ axis: Int, of tensor: KerasTensor) throws -> Int {
    let index = axis < 0 ? tensor.rank + axis : axis
    guard index >= 0, index < tensor.rank else {
      throw error("axis \(axis) does not exist in \(tensor.shapeText)")
    }
    guard index > 0 else { throw unsupported("axis \(axis) is the batch, which is not supported") }
    return index
  }
}
