import TensorCore

extension Model {
  /// The specification of the network for a model whose layers store weights without being
  /// connected, as in a kraken file; nil for other models.
  var storedVGSLNetwork: String? {
    guard let network = neuralNetwork, let description,
      let text = description.metadata?.userDefined["vgsl"],
      description.metadata?.userDefined["kraken_meta"] != nil
    else { return nil }
    let made = Set(network.layers.flatMap(\.output) + description.input.map(\.name))
    return description.output.allSatisfy { made.contains($0.name) } ? nil : text
  }

  /// Connects the layers of a kraken file, which only store weights, into the network that `vgsl`
  /// in the metadata describes. Other models are left unchanged.
  ///
  /// The input becomes `[1, C, H, W]`, flexible where the specification has 0; the output is also
  /// `[1, C, H, W]`, as for kraken's module in evaluation mode.
  /// - Throws: `ModelError` with the block, if the specification or a layer does not allow that.
  package mutating func connectVGSLNetwork() throws {
    guard let text = storedVGSLNetwork, let store = neuralNetwork, var description else { return }
    let outputs = description.output.map(\.name)
    try inField("description.metadata.vgsl") {
      try require(
        description.input.count == 1 && outputs.count == 1,
        "kraken's networks have one input and one output, not \(description.input.count) and "
          + "\(outputs.count)")
      let specification = try VGSLSpecification(text)
      var builder = VGSLNetworkBuilder(
        store: store, input: description.input[0].name, output: outputs[0])
      for block in specification.blocks { try builder.add(block) }
      neuralNetwork = try builder.network()
      description.input[0].type = specification.inputType
      description.output[0].type = .array([], nil)
    }
    self.description = description
    specificationVersion = max(specificationVersion, 4)
  }
}

extension VGSLSpecification {
  /// `[1, C, H, W]`; a free axis defaults to the length of the other one, or 256.
  fileprivate var inputType: FeatureType {
    let fallback = max(height, width) > 0 ? max(height, width) : 256
    func range(_ size: Int) -> SizeRange { size > 0 ? SizeRange(size, size) : SizeRange(1, -1) }
    let isFlexible = height == 0 || width == 0
    return .array(
      [1, depth, height > 0 ? height : fallback, width > 0 ? width : fallback],
      isFlexible ? [SizeRange(1, 1), SizeRange(depth, depth), range(height), range(width)] : nil)
  }
}

extension FeatureType {
  fileprivate static func array(_ shape: [Int], _ ranges: [SizeRange]?) -> FeatureType {
    var array = ArrayFeatureType(shape: shape, dataType: .float32)
    array.flexibility = ranges.map { .range($0) }
    return FeatureType().with(\.kind, .multiArray(array))
  }
}

/// Converts blocks to Core ML layers, with the weights of a store. Blobs are `[1, C, H, W]`.
private struct VGSLNetworkBuilder {
  private var store: [String: NeuralNetworkLayer]
  private var layers: [NeuralNetworkLayer] = []
  private var names: NamePool
  private var blob: String
  private let output: String

  init(store: NeuralNetwork, input: String, output: String) {
    self.store = Dictionary(store.layers.map { ($0.name, $0) }) { first, _ in first }
    self.output = output
    names = NamePool([input, output]) { String(repeating: "_", count: $0) }
    blob = input
  }

  /// The network of all blocks so far.
  func network() throws -> NeuralNetwork {
    try require(!layers.isEmpty, "no block computes anything")
    var network = NeuralNetwork()
    network.arrayInputShapeMapping = .exact
    network.layers = layers
    network.layers[layers.count - 1].output[0] = output
    return network
  }

  mutating func add(_ block: VGSLSpecification.Block) throws {
    let name = block.name
    switch block.operation {
    case .nothing: break
    case .convolution(let convolution): try add(convolution, of: block)
    case .maxPooling(let kernel, let stride):
      append(
        name,
        Pooling().with(\.kernelSize, kernel).with(\.stride, stride)
          .with(\.padding, .valid(ValidPadding())))
    case .groupNormalization:
      append(name, try stored(name, Custom.self, block))
    case .lstm(let recurrence): try add(recurrence, of: block)
    case .reshape(let axis, let parts, let high, let low):
      append(
        name,
        custom(
          "reshape",
          ["src_dim": axis, "part_a": parts[0], "part_b": parts[1], "high": high, "low": low]))
    case .addition(let axis, let chunk):
      append(name, custom("addition", ["dim": axis, "chunk_size": chunk]))
    case .labels(let count):
      let product = try stored("\(name)_lin", InnerProduct.self, block)
      try check(product.outputChannels, count, block)
      var convolution = Convolution()
      convolution.outputChannels = count
      convolution.kernelChannels = product.inputChannels
      convolution.kernelSize = [1, 1]
      convolution.hasBias = product.hasBias
      convolution.kernel = product.matrix
      convolution.bias = product.bias
      convolution.padding = .valid(ValidPadding())
      append("\(name)_lin", convolution)
      append("\(name)_softmax", softmax)
    }
  }

  /// Pads with `dilation · (kernel − 1) / 2` zeros on both sides, as in PyTorch. For strides other
  /// than 1, the padding that the store declares differs.
  private mutating func add(_ block: VGSLConvolution, of source: VGSLSpecification.Block) throws {
    var convolution = try stored("\(source.name)_conv", Convolution.self, source)
    try check(convolution.outputChannels, block.channels, source)
    let padding = zip(block.dilation, block.kernel).map { $0 * ($1 - 1) / 2 }
    let amounts = BorderAmounts(
      top: padding[0], bottom: padding[0], left: padding[1], right: padding[1])
    convolution.padding = .valid(ValidPadding().with(\.paddingAmounts, amounts))
    convolution.kernelSize = block.kernel
    convolution.stride = block.stride
    convolution.dilationFactor = block.dilation
    convolution.isDeconvolution = false
    convolution.outputShape = []
    append("\(source.name)_conv", convolution)
    if let activation = block.activation { append("\(source.name)_act", activation) }
    if block.hasSoftmax { append("\(source.name)_act", softmax) }
  }

  /// Core ML's LSTM runs along the first axis of `[sequence, batch, C, 1, 1]`, so the LSTM's axis
  /// moves there; the other axis becomes the batch.
  private mutating func add(_ block: VGSLRecurrence, of source: VGSLSpecification.Block) throws {
    let name = source.name
    let stored = store["\(name)_transposed"] ?? store[name]
    append(
      "\(name)_sequence",
      Transpose().with(\.axes, block.isVertical ? [2, 3, 1, 0] : [3, 2, 1, 0]))
    append("\(name)_expand", ExpandDims().with(\.axes, [4]))
    if var lstm = stored?.parameters as? UniDirectionalLSTM, !block.isBidirectional {
      try check(lstm.outputVectorSize, block.units, source)
      lstm.params?.sequenceOutput = true
      append(name, lstm, outputs: 3)
    } else if var lstm = stored?.parameters as? BiDirectionalLSTM, block.isBidirectional {
      try check(lstm.outputVectorSize, block.units, source)
      lstm.params?.sequenceOutput = true
      append(name, lstm, outputs: 5)
    } else {
      throw missing(name, source)
    }
    // The last position in both directions, as in PyTorch, not the final states.
    if block.isSummarizing {
      var slice = SliceStatic()
      slice.beginIds = [-1, 0, 0, 0, 0]
      slice.beginMasks = [false, true, true, true, true]
      slice.endIds = [0, 0, 0, 0, 0]
      slice.endMasks = [true, true, true, true, true]
      slice.strides = [1, 1, 1, 1, 1]
      append("\(name)_last", slice)
    }
    append("\(name)_squeeze", Squeeze().with(\.axes, [4]))
    append(
      "\(name)_image",
      Transpose().with(\.axes, block.isVertical ? [3, 2, 0, 1] : [3, 2, 1, 0]))
  }

  /// Takes a block's layer from the store; sharing it would let a short text multiply weights.
  private mutating func stored<Layer: LayerParameters>(
    _ name: String, _ type: Layer.Type, _ block: VGSLSpecification.Block
  ) throws -> Layer {
    guard let layer = store.removeValue(forKey: name)?.parameters as? Layer else {
      throw missing(name, block)
    }
    return layer
  }

  private func missing(_ name: String, _ block: VGSLSpecification.Block) -> ModelError {
    ModelError(.malformed, "block '\(block.text.prefix(80))': no layer '\(name)' has its weights")
  }

  private func check(_ stored: Int, _ count: Int, _ block: VGSLSpecification.Block) throws {
    try require(
      stored == count,
      "block '\(block.text.prefix(80))': the layer with its weights has \(stored) outputs")
  }

  private func custom(_ className: String, _ parameters: [String: Int]) -> Custom {
    // The specification's sizes fit in 32 bits.
    Custom().with(\.className, className)
      .with(\.parameters, parameters.mapValues { .int(Int32(clamping: $0)) })
  }

  private var softmax: SoftmaxND { SoftmaxND().with(\.axis, 1) }

  /// Appends a layer after the last blob, with outputs named after it.
  private mutating func append(
    _ name: String, _ parameters: any LayerParameters, outputs: Int = 1
  ) {
    let name = names.take(name.isEmpty ? "block" : name)
    let states = (1..<outputs).map { "\(name)_state\($0)" }
    layers.append(NeuralNetworkLayer(name, parameters, input: [blob], output: [name] + states))
    blob = name
  }
}
