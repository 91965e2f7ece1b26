import ByteFormats
import ImportSupport

/// Applies a layer to each step of a sequence. Core ML's layers do so along the sequence axis
/// anyway, so the inner layer is converted without that axis.
struct TimeDistributed: KerasLayerSettings {
  static let classes = [SourceLayer](
    "TimeDistributed", becomes: "the wrapped layer, on the sequence axis",
    options: "`layer`, also a model; recurrent layers inside become \(SourceLayer.unrolled)",
    refused: "inner layers that return sequences of sequences")
  static let maskPolicy = MaskPolicy.decides
  /// A field that marks the wrappers of the layers in a model that is applied to each step.
  static let isInModel = "is_in_model"

  private let inner: ConfiguredLayer
  private let innerClass: String
  private let reshape: ReshapeLayer?
  private let isInModel: Bool

  init(_ configuration: LayerConfiguration) throws {
    let (inner, wrapped) = try configuration.wrappedLayer()
    (self.inner, innerClass) = (inner, wrapped.kind)
    reshape = inner.type == ReshapeLayer.self ? try ReshapeLayer(wrapped) : nil
    try configuration.require(
      inner.type != SpectralNormalization.self, "layer",
      unsupported: "SpectralNormalization inside TimeDistributed is not supported",
      hint: "replace it with the layer that it wraps, whose stored kernel is already normalized")
    isInModel = configuration[Self.isInModel] != nil
  }

  var weights: [WeightSlot] { inner.weights }

  /// Layers that work with any number of axes.
  private static let elementwise = Set(
    [
      Dense.classNames, ActivationLayer.classNames, RectifierLayer.classNames, ReLU.classNames,
      Dropout.classNames,
    ].joined())
  /// Layers that work along the width, and layers for which the width may be any axis.
  private static let stepwise = Set(
    [
      Conv.classNames, SeparableConv.classNames, DepthwiseConv.classNames,
      ConvTranspose.classNames, PoolingLayer.classNames, GlobalPooling.classNames,
      ZeroPadding.classNames, Cropping.classNames, UpSampling.classNames,
    ].joined().filter { $0.contains("1D") } + merging + FlattenLayer.classNames
      + BatchNormalization.classNames)
  /// Layers with several inputs.
  private static let merging =
    ElementwiseMergeLayer.classNames + SubtractLayer.classNames + ConcatenateLayer.classNames
  private static let stepLimit = 1024

  func convert(_ call: LayerCall, into network: inout KerasWriter) throws -> [KerasTensor] {
    let outputs = try inner.type.maskPolicy.applied(
      to: converted(call, into: &network), of: call.inputs, call.version)
    let given = call.inputs.first?.mask
    return outputs.map { output in
      var output = output
      // Keras 3 and Keras before 2.2 keep the input's mask. Versions between them use the inner
      // layer's mask; if it has none, a step is valid if any element in it is.
      if !isInModel {
        if call.version.isAtLeast(3, 0) || !call.version.masksSteps {
          output.mask = given
        } else if output.mask == nil {
          output.mask = given.map { $0.isNested ? .some($0) : $0 }
        }
      } else if let given, !given.isNested {
        // The wrapper of the model keeps the mask, even if a layer in it does not.
        output.mask = given
      }
      if output.mask?.isNested == true, output.rank < 4 { output.mask = nil }
      return output
    }
  }

  private func converted(
    _ call: LayerCall, into network: inout KerasWriter
  ) throws -> [KerasTensor] {
    // Embeddings and masks work with any axes.
    if (EmbeddingLayer.classNames + MaskingLayer.classNames).contains(innerClass) {
      return try inner.convert(call, &network)
    }
    var inputs = call.inputs.map { network.standard($0, for: call.name) }
    for input in inputs where input.rank < 3 {
      throw call.error("its input \(input.shapeText) is not a sequence")
    }
    if !Self.merging.contains(innerClass) {
      let input = try call.input
      if input.layout.axes[0] != .sequence, Self.elementwise.contains(innerClass) {
        return try inner.convert(call, &network)
      }
      if let reshape, let steps = input.shape[1], !input.isShapeAssumed {
        let sizes = try reshape.sizes(ofEach: input.without([1]), call)
        return [
          try network.reshaped(input, to: [steps] + sizes, preferred: call.preferredImage, call)
        ]
      }
      let isMasked = call.version.masksSteps && input.mask?.isNested == true
      if input.rank == 4,
        isMasked && inner.type == GlobalPooling.self || !Self.stepwise.contains(innerClass),
        !Self.elementwise.contains(innerClass)
      {
        return try unrolled(
          network.relaid(input, to: .nestedSequence, for: call.name), call, &network)
      }
    }
    for (index, input) in inputs.enumerated() where input.layout.axes[0] != .sequence {
      let layout =
        input.rank == 4 ? TensorLayout(axes: [.sequence, .width, .channel]) : .imageSequence
      inputs[index] = network.relaid(input, to: layout, for: call.name)
    }
    return try network.stepwise(inner, call.with(name: call.name, inputs: inputs))
  }

  /// Applies the layer to each step of a sequence of sequences separately.
  private func unrolled(
    _ input: KerasTensor, _ call: LayerCall, _ network: inout KerasWriter
  ) throws -> [KerasTensor] {
    guard let count = input.shape[1], count <= Self.stepLimit, !input.isShapeAssumed else {
      throw call.unsupported(
        "TimeDistributed(\(innerClass)) on \(input.shapeText): each step needs a separate "
          + "layer, and the number of steps is unknown or too large",
        hint: "fix it with \(setting: "inputShape")")
    }
    let rows = network.relaid(input, to: .nestedSequence, for: call.name)
    let mask = call.version.masksSteps && input.mask?.isNested == true ? input.mask : nil
    var outputs: [KerasTensor] = []
    for step in 0..<count {
      var row = rows
      let name = "\(call.name)_\(step)"
      row.blob = network.slice(rows.blob, step..<step + 1, of: .height, "\(name)__slice__")
      row.shape.remove(at: 1)
      row.layout = .sequence
      row.mask = mask.map { .step($0, step) }
      let results = try inner.convert(call.with(name: name, inputs: [row]), &network)
      guard results.count == 1, results[0].rank <= 3 else {
        throw call.unsupported("the outputs of TimeDistributed(\(innerClass)) are not supported")
      }
      outputs.append(results[0])
    }
    var result = outputs[0]
    result.mask = result.mask == nil ? nil : mask
    result.shape.insert(count, at: 1)
    if result.rank == 3 {
      let blobs = outputs.map { network.relaid($0, to: .vector, for: call.name).blob }
      result.blob = network.joined(blobs, alongSequence: true, call.name)
      result.layout = .sequence
    } else {
      let layout = TensorLayout(axes: [.sequence, .height])
      let blobs = outputs.map { network.relaid($0, to: layout, for: call.name).blob }
      result.blob = network.joined(blobs, alongSequence: false, call.name)
      result.layout = TensorLayout(axes: [.channel, .sequence, .height])
    }
    return [result]
  }
}

extension LayerConfiguration {
  /// The layer inside a wrapper, and its configuration.
  func wrappedLayer() throws -> (ConfiguredLayer, LayerConfiguration) {
    guard let (_, json) = field("layer"), let configuration = inner(json) else {
      throw missing(["layer"])
    }
    let type = try version.layerType(configuration.kind).orThrow(
      unsupported(
        nil, "\(configuration.className): this layer class is not supported",
        hint: UnsupportedLayers.sourceHint
          + "; or make it a custom layer with a rule: \(setting: "customLayers") FILE.json with "
          + CustomLayerSubject(layer: name, layerClass: className).suggestedRule))
    return (try configuration.layer(type), configuration)
  }
}
