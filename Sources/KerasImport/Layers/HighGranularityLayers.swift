import ByteFormats
import CoreMLModel
import ImportSupport
import LibC
import TensorCore

// Layers of HGQ 0.2, whose numbers of bits may differ from element to element.

/// Rounding to a multiple of 2⁻ᵇ, with b stored for each element or for several together:
/// ⌊x · 2ᵇ + ½⌋ / 2ᵇ, or without ½.
struct GranularQuantizer: Sendable {
  private let rounding: String
  private let limits: [Int]?
  let isTrainable: Bool

  init(_ configuration: LayerConfiguration, _ field: String) throws {
    guard let (_, value) = configuration.field(field) else { throw configuration.missing([field]) }
    switch (value["rnd_strategy"]?.string, value["rnd_strategy"]?.int) {
    case (let name?, _): rounding = name
    case (_, 3?): rounding = "floor"
    default: rounding = "standard_round"
    }
    limits = try value["bw_clip"].flatMap {
      $0.isNull ? nil : try configuration.ints("bw_clip", $0)
    }
    isTrainable = value["trainable"]?.bool ?? true
  }

  /// 2ᵇ for each stored number of bits.
  func scales(_ stored: FloatValues) throws -> FloatValues {
    let values = try stored.array().map { bits in
      var bits = bits
      if let limits, limits.count == 2 { bits = min(max(bits, Float(limits[0])), Float(limits[1])) }
      return exp2(bits.rounded(.toNearestOrEven))
    }
    return FloatValues(values).shaped(stored.shape)
  }

  /// What is added before rounding down.
  ///
  /// - Parameter isCovered: whether the bias could do it instead, if the rounding is automatic.
  func offset(isCovered: Bool) -> Float {
    rounding == "floor" || rounding == "auto" && !isCovered ? 0 : 0.5
  }
}

/// A layer of Keras with quantized weights and a quantized result.
struct GranularLayer: KerasLayer {
  static let classes = [
    SourceLayer(
      "HQuantize", "HDense", "HConv1D", "HConv2D", "HDenseBatchNorm", "HConv1DBatchNorm",
      "HConv2DBatchNorm", "HActivation", "HAdd",
      becomes: "the layer without H, with quantized weights; scale, floor, scale",
      options: "of HGQ: `kq_conf`, `paq_conf`", refused: "channels first", version: 4)
  ]

  private let layer: (any KerasLayer)?
  private let hasKernel: Bool
  private let hasBias: Bool
  private let normalization: ScaleAndCenter
  private let epsilon: Double
  private let kernelQuantizer: GranularQuantizer
  private let quantizer: GranularQuantizer
  /// Whether the activation comes before the quantization.
  private let activatesFirst: Bool
  private let activation: ActivationFunction

  init(_ configuration: LayerConfiguration) throws {
    var kind = String(configuration.kind.dropFirst())
    let isFolded = kind.hasSuffix("BatchNorm")
    if isFolded { kind.removeLast("BatchNorm".count) }
    hasKernel = kind == "Dense" || kind.hasPrefix("Conv")
    hasBias = try hasKernel && configuration.bool("use_bias", default: true)
    let stored = try ScaleAndCenter(configuration)
    normalization = ScaleAndCenter(
      hasScale: isFolded && stored.hasScale, hasCenter: isFolded && stored.hasCenter && hasBias)
    epsilon = try configuration.double("epsilon", default: 1e-3)
    kernelQuantizer = try GranularQuantizer(configuration, "kq_conf")
    quantizer = try GranularQuantizer(configuration, "paq_conf")
    activatesFirst = kind == "Activation"
    activation = try ActivationFunction(configuration)
    try configuration.require(
      configuration.dataFormat != .channelsFirst, "data_format",
      unsupported: "channels first is not supported")
    layer =
      hasKernel || kind == "Add"
      ? try KerasLayerRegistry.type(named: kind)?.init(configuration.inner(kind)) : nil
  }

  var weights: [WeightSlot] {
    var slots = WeightSlot.named(hasKernel ? "kernel" : nil, hasBias ? "bias" : nil)
    slots.append(WeightSlot("regularization", isTrainable: false))
    if hasKernel { slots.append(WeightSlot("kernel_bw", isTrainable: kernelQuantizer.isTrainable)) }
    slots.append(WeightSlot("activation_bw", isTrainable: quantizer.isTrainable))
    slots.append(WeightSlot("operations", isTrainable: false))
    if normalization.hasCenter {
      slots += [WeightSlot("beta"), WeightSlot("moving_mean", isTrainable: false)]
    }
    if normalization.hasScale {
      slots += [WeightSlot("gamma"), WeightSlot("moving_variance", isTrainable: false)]
    }
    return slots.filter(\.isTrainable) + slots.filter { !$0.isTrainable }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try call.require(
      call.missingWeights == nil, unsupported: "its numbers of bits are in the weights file")
    let bits = try call.stored("activation_bw")
    let scales = try quantizer.scales(bits)
    let channels = hasBias ? try call.stored("bias").count : 0
    let isCovered =
      hasBias && (bits.count == 1 || bits.count == channels && bits.shape.last == channels)
    let offset = quantizer.offset(isCovered: isCovered || !hasKernel)
    var result: KerasTensor
    if let layer {
      let inner = call.with(
        name: call.name + "__values__", inputs: call.inputs,
        weights: hasKernel ? try quantizedWeights(scales, offset, call) : [])
      guard let output = try layer.convert(inner, into: &network).first else { return [] }
      result = output
    } else {
      result = try call.input
    }
    if activatesFirst {
      result = try network.apply(activation, result, name: call.name + "__activation__", call)
    }
    let isLast = activatesFirst || activation == .linear
    result = try network.rounded(
      result, scales, offset, isLast ? call.name : call.name + "__rounded__", call)
    return [isLast ? result : try network.apply(activation, result, name: call.name, call)]
  }

  private func quantizedWeights(
    _ scales: FloatValues, _ offset: Float, _ call: LayerCall
  ) throws -> [StoredWeight] {
    let kernel = try call.stored("kernel")
    guard let channels = kernel.shape.last, channels > 0 else {
      throw call.error("its kernel has no outputs")
    }
    func vector(_ name: String, _ standard: Float, _ isStored: Bool) throws -> [Float] {
      try call.numbers(name, channels, isStored: isStored, default: standard)
    }
    let gamma = try vector("gamma", 1, normalization.hasScale)
    let variance = try vector("moving_variance", 1, normalization.hasScale)
    let factors = (0..<channels).map {
      normalization.hasScale ? gamma[$0] / (variance[$0] + Float(epsilon)).squareRoot() : 1
    }
    var values = try kernel.array()
    for index in values.indices { values[index] *= factors[index % channels] }
    let kernelScales = try kernelQuantizer.scales(call.stored("kernel_bw")).broadcast(
      to: kernel.shape, call)
    let half = kernelQuantizer.offset(isCovered: true)
    for index in values.indices {
      values[index] = (values[index] * kernelScales[index] + half).rounded(.down)
      values[index] /= kernelScales[index]
    }
    var result = [StoredWeight(FloatValues(values).shaped(kernel.shape), "kernel")]
    guard hasBias else { return result }
    let mean = try vector("moving_mean", 0, normalization.hasCenter)
    let beta = try vector("beta", 0, normalization.hasCenter)
    var bias = try vector("bias", 0, true)
    // The most bits that a channel has anywhere.
    let last = scales.shape.last ?? 1
    try call.require(last == 1 || last == channels, "its numbers of bits do not match its outputs")
    var finest = [Float](repeating: 0, count: last)
    for (index, scale) in try scales.array().enumerated() {
      finest[index % last] = max(finest[index % last], scale)
    }
    for index in bias.indices {
      let scale = finest[index % last]
      let folded = bias[index] - mean[index] * factors[index] + beta[index]
      let value = normalization.hasCenter ? folded : bias[index]
      bias[index] = (value * scale + offset).rounded(.down) / scale
    }
    result.append(StoredWeight(FloatValues(bias), "bias"))
    return result
  }
}

/// A layer of Keras whose class has P before its name.
struct PassiveLayer: KerasLayer {
  static let classes = [
    SourceLayer(
      "PMaxPooling1D", "PMaxPooling2D", "PAveragePooling1D", "PAveragePooling2D", "PFlatten",
      "PReshape", "PPermute", "PConcatenate", "PDropout", "PZeroPadding1D", "PZeroPadding2D",
      becomes: "the layer without P", options: "of HGQ")
  ]

  private let layer: any KerasLayer

  init(_ configuration: LayerConfiguration) throws {
    let kind = String(configuration.kind.dropFirst())
    guard let type = KerasLayerRegistry.type(named: kind) else {
      throw configuration.unsupported(nil, "layer class '\(kind)' is not supported")
    }
    var inner = configuration
    inner = LayerConfiguration(
      name: inner.name, className: inner.className, kind: kind, fields: inner.fields,
      version: inner.version)
    layer = try type.init(inner)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try layer.convert(call, into: &network)
  }
}

extension NetworkWriter {
  /// ⌊x · scale + offset⌋ / scale, with scales `[1, …]` that broadcast to the tensor.
  fileprivate mutating func rounded(
    _ tensor: KerasTensor, _ scales: FloatValues, _ offset: Float, _ name: String,
    _ call: LayerCall
  ) throws -> KerasTensor {
    let layouts: [Int: TensorLayout] = [2: .vector, 3: .steps, 4: .image]
    guard let layout = layouts[tensor.rank] else {
      throw call.unsupported("\(tensor.shapeText) is not supported")
    }
    var result = relaid(tensor, to: layout, for: call.name)
    let sizes = try call.known(result.shape.dropFirst(), of: result)
    let values: [Float]
    var shape = [1]
    if scales.count == 1 {
      values = try scales.array()
    } else {
      let full = try scales.broadcast(to: [1] + sizes, call)
      let order = sizes.count == 1 ? [0] : sizes.count == 2 ? [1, 0] : [2, 0, 1]
      let turned = FloatValues(full).shaped(sizes).transposed(order)
      values = try turned.array()
      shape = sizes.count == 2 ? [sizes[1], 1, sizes[0]] : order.map { sizes[$0] }
    }
    var up = Scale(Weights(values), shape)
    if offset != 0 {
      up.hasBias = true
      up.shapeBias = [1]
      up.bias = Weights([offset])
    }
    let scaled = add(name + "__scaled__", up, [result.blob])
    let whole = add(name + "__whole__", Floor(), [scaled])
    result.blob = add(name, Scale(Weights(values.map { 1 / $0 }), shape), [whole])
    return settled(result, for: name)
  }
}

extension LayerCall {
  /// The weight with this name, of any shape.
  fileprivate func stored(_ name: String) throws -> FloatValues {
    guard let weight = weights.first(where: { $0.name == name }) else {
      throw error("weight '\(name)' is missing from the file")
    }
    return try weight.values()
  }
}

extension StoredWeight {
  fileprivate init(_ values: FloatValues, _ name: String) {
    self.init(name: name, storedName: name, shape: values.shape) { values }
  }
}

extension FloatValues {
  /// The elements for a shape whose sizes are those of the array, or the array's are 1.
  fileprivate func broadcast(to target: [Int], _ call: LayerCall) throws -> [Float] {
    guard shape.count == target.count, zip(shape, target).allSatisfy({ $0 == $1 || $0 == 1 }) else {
      throw call.error(
        "its numbers of bits \(KerasTensor.text(shape)) do not match \(KerasTensor.text(target))")
    }
    let values = try array()
    let count = try computedCount(target)
    return (0..<count).map { index in
      var (rest, place, step) = (index, 0, 1)
      for axis in shape.indices.reversed() {
        if shape[axis] > 1 { place += rest % target[axis] * step }
        rest /= target[axis]
        step *= shape[axis]
      }
      return values[place]
    }
  }
}
