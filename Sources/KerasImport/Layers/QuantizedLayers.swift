import ByteFormats
import CoreMLModel
import ImportSupport
import TensorCore

// Layers of QKeras 0.9. Weights are quantized at conversion, activations by formulas.

/// A layer of Keras whose weights and result are quantized.
struct QuantizedLayer: KerasLayer {
  static let classes = [
    SourceLayer(
      "QDense", "QConv1D", "QConv2D", "QConv2DTranspose", "QDepthwiseConv2D", "QSeparableConv1D",
      "QSeparableConv2D", "QBatchNormalization", "QAveragePooling2D", "QGlobalAveragePooling2D",
      becomes: "the layer without Q, with quantized weights; the activation as a formula",
      options: "of QKeras: every quantizer but `bernoulli`",
      refused: "an activation whose `alpha` is computed from the batch; "
        + "HGQ 2's classes of these names")
  ]

  private static let quantizers = [
    "kernel": "kernel_quantizer", "bias": "bias_quantizer",
    "depthwise_kernel": "depthwise_quantizer", "pointwise_kernel": "pointwise_quantizer",
    "gamma": "gamma_quantizer", "beta": "beta_quantizer", "moving_mean": "mean_quantizer",
    "moving_variance": "variance_quantizer",
  ]

  private let layer: any KerasLayer
  private let quantizers: [String: Quantizer]
  private let activation: QuantizedActivation
  /// What an average is multiplied with, because its division is quantized.
  private let factor: Float

  init(_ configuration: LayerConfiguration) throws {
    let kind = String(configuration.kind.dropFirst())
    // HGQ 2 has classes of the same names.
    try configuration.require(
      configuration.fields.names.contains { $0.hasSuffix("_quantizer") }, nil,
      unsupported: "only QKeras' class of this name is supported, not HGQ's",
      hint: "make it a custom layer with --custom-layers")
    guard let type = KerasLayerRegistry.type(named: kind) else {
      throw configuration.unsupported(nil, "layer class '\(kind)' is not supported")
    }
    layer = try type.init(configuration.inner(kind))
    activation = try QuantizedActivation(configuration)
    var quantizers: [String: Quantizer] = [:]
    for slot in layer.weights {
      guard let field = Self.quantizers[slot.name] else { continue }
      quantizers[slot.name] = try configuration.quantizer(field)
    }
    self.quantizers = quantizers
    guard let average = try configuration.quantizer("average_quantizer") else {
      factor = 1
      return
    }
    try configuration.require(
      kind == "AveragePooling2D" && configuration.border() == .valid, "average_quantizer",
      unsupported: "only AveragePooling2D with padding 'valid' is supported")
    let area = Float(try configuration.sizes("pool_size", count: 2, default: [2, 2]).reduce(1, *))
    factor = area * (try average.quantized(FloatValues([1 / area])).array()[0])
  }

  var weights: [WeightSlot] { layer.weights }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let isPlain = activation.isLinear && factor == 1
    let name = isPlain ? call.name : call.name + "__values__"
    let weights = call.weights.map { weight in
      guard let quantizer = quantizers[weight.name] else { return weight }
      var quantized = weight
      quantized.values = { try quantizer.quantized(weight.values()) }
      return quantized
    }
    var outputs = try layer.convert(
      call.with(name: name, inputs: call.inputs, weights: weights), into: &network)
    guard !isPlain, let output = outputs.first else { return outputs }
    outputs[0] =
      factor == 1
      ? output
      : output.with(network.affine(output.blob, factor, 0, call.name + "__factor__"))
    return [try activation.applied(to: outputs[0], call, &network)]
  }
}

/// A quantizer, or a function of Keras, as a layer or as a layer's `activation`.
struct QuantizedActivation: KerasLayer {
  static let classes = [
    SourceLayer(
      "QActivation", becomes: "a formula: clip, round and linear activations",
      options: "`activation`: a quantizer of QKeras or a function of Keras",
      refused: "`bernoulli`, an `alpha` computed from the batch",
      version: 4)
  ]

  private let formula: FormulaConversion?
  private let function: ActivationFunction

  init(_ configuration: LayerConfiguration) throws {
    if let quantizer = try configuration.quantizer("activation") {
      formula = try quantizer.activation()
      function = .linear
    } else {
      formula = nil
      function = try ActivationFunction(configuration)
    }
  }

  var isLinear: Bool { formula == nil && function == .linear }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    [try applied(to: call.input, call, &network)]
  }

  func applied(
    to tensor: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    if let formula {
      var result = try formula.convert(
        call.with(name: call.name, inputs: [tensor], weights: []), into: &network)
      result[0].mask = tensor.mask
      return result[0]
    }
    return isLinear ? tensor : try network.apply(function, tensor, name: call.name, call)
  }
}

/// A convolution that contains its normalization: kernel · gamma / √(variance + epsilon) is
/// quantized, and so is (bias − mean) · gamma / √(variance + epsilon) + beta.
struct QuantizedFoldedConvolution: KerasLayer {
  static let classes = [
    SourceLayer(
      "QConv2DBatchnorm", "QDepthwiseConv2DBatchnorm",
      becomes: "convolution; the activation as a formula", options: "those of QConv2D; of QKeras")
  ]

  private let layer: any KerasLayer
  private let isDepthwise: Bool
  private let hasBias: Bool
  private let affine: ScaleAndCenter
  private let epsilon: Double
  private let kernelQuantizer: Quantizer?
  private let biasQuantizer: Quantizer?
  private let activation: QuantizedActivation

  init(_ configuration: LayerConfiguration) throws {
    isDepthwise = configuration.kind.contains("Depthwise")
    hasBias = try configuration.bool("use_bias", default: false)
    affine = try ScaleAndCenter(configuration)
    epsilon = try configuration.double("epsilon", default: 1e-3)
    kernelQuantizer = try configuration.quantizer(
      isDepthwise ? "depthwise_quantizer" : "kernel_quantizer")
    biasQuantizer = try configuration.quantizer("bias_quantizer")
    activation = try QuantizedActivation(configuration)
    let kind = isDepthwise ? "DepthwiseConv2D" : "Conv2D"
    let inner = configuration.inner(kind, ["use_bias": .bool(true)])
    if isDepthwise { layer = try DepthwiseConv(inner) } else { layer = try Conv(inner) }
  }

  private var kernelName: String { isDepthwise ? "depthwise_kernel" : "kernel" }

  var weights: [WeightSlot] {
    WeightSlot.named(kernelName, hasBias ? "bias" : nil) + affine.weights
      + ["iteration", "moving_mean", "moving_variance"].map {
        WeightSlot($0, isTrainable: false)
      }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let name = activation.isLinear ? call.name : call.name + "__values__"
    var inner = call.with(name: name, inputs: call.inputs)
    if call.missingWeights == nil {
      inner = call.with(name: name, inputs: call.inputs, weights: try folded(call))
    }
    let outputs = try layer.convert(inner, into: &network)
    guard let output = outputs.first else { return outputs }
    return [try activation.applied(to: output, call, &network)]
  }

  private func folded(_ call: LayerCall) throws -> [StoredWeight] {
    guard let kernel = try call.weights.first(where: { $0.name == kernelName })?.values(),
      kernel.shape.count == 4
    else { throw call.error("weight '\(kernelName)' is missing from the file") }
    let channels = isDepthwise ? kernel.shape[2] * kernel.shape[3] : kernel.shape[3]
    func vector(_ name: String, _ standard: Float, _ isStored: Bool) throws -> [Float] {
      try call.numbers(name, channels, isStored: isStored, default: standard)
    }
    let gamma = try vector("gamma", 1, affine.hasScale)
    let beta = try vector("beta", 0, affine.hasCenter)
    let mean = try vector("moving_mean", 0, true)
    let variance = try vector("moving_variance", 1, true)
    let bias = try vector("bias", 0, hasBias)
    let factors = (0..<channels).map {
      gamma[$0] / (variance[$0] + Float(epsilon)).squareRoot()
    }
    let values = try kernel.array().enumerated().map { index, value in
      value * factors[index % channels]
    }
    let offsets = (0..<channels).map { factors[$0] * (bias[$0] - mean[$0]) + beta[$0] }
    let foldedKernel = FloatValues(values).shaped(kernel.shape)
    let foldedBias = FloatValues(offsets)
    let (kernelQuantizer, biasQuantizer) = (self.kernelQuantizer, self.biasQuantizer)
    return [
      StoredWeight(name: kernelName, storedName: kernelName, shape: kernel.shape) {
        try kernelQuantizer?.quantized(foldedKernel) ?? foldedKernel
      },
      StoredWeight(name: "bias", storedName: "bias", shape: [channels]) {
        try biasQuantizer?.quantized(foldedBias) ?? foldedBias
      },
    ]
  }
}

extension LayerConfiguration {
  /// The quantizer in a field; nil if the field is missing or names no quantizer.
  fileprivate func quantizer(_ field: String) throws -> Quantizer? {
    guard let (_, value) = self.field(field) else { return nil }
    return try Quantizer(value, self, field)
  }

  /// The settings of the layer without quantizers and activation.
  func inner(
    _ kind: String, _ changes: KeyValuePairs<String, JSONValue> = [:]
  ) -> LayerConfiguration {
    var fields = fields
    fields["activation"] = .null
    for (name, value) in changes { fields[name] = value }
    return LayerConfiguration(
      name: name, className: className, kind: kind, fields: fields, version: version)
  }
}
