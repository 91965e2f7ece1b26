import CoreMLModel
import ImportSupport
import TensorCore

extension DarknetLayer {
  /// out = activation(normalized(kernel ∗ in) + bias)
  static let convolutional = DarknetLayer(
    SourceLayer(
      "convolutional", "conv",
      becomes: "convolution, batchnorm, activation; with `xnor` first greaterThan of "
        + "specification 4",
      refused: "`sway`, `rotate`, `stretch`, `stretch_sway`, `coordconv`: kernels computed at "
        + "run time; `antialiasing`: undefined in Darknet"),
    options: [
      "filters", "size", "stride", "stride_x", "stride_y", "pad", "padding", "groups", "dilation",
      "batch_normalize", "cbn", "activation", "flipped", "share_index", "binary", "xnor",
      "antialiasing", "sway", "rotate", "stretch", "stretch_sway", "coordconv",
    ],
    trainingOptions: [
      "angle", "assisted_excitation", "bin_output", "dot", "grad_centr", "reverse", "stream",
      "wait_stream",
    ]
  ) { section in
    let filters = try section.int("filters", default: 1, in: 1...WindowOptions.filterLimit)
    let takesSigns = try section.bool("xnor")
    // Whether weights (`binary`) and inputs (`xnor`) are reduced to their signs.
    let hasSigns = try takesSigns || section.bool("binary")
    let groups = takesSigns ? 1 : max(1, try section.int("groups", default: 1))
    let window = try WindowOptions(section)
    let gaps = try section.int("dilation", default: 1, in: 1...WindowOptions.limit)
    let dilation = window.size == 1 ? 1 : gaps
    let isNormalized = try section.bool("batch_normalize") || section.bool("cbn")
    let isFlipped = try section.bool("flipped")
    let sharedIndex = try section["share_index"].map { _ in
      try section.int("share_index", default: 0, in: -Limits.layers...Limits.layers)
    }
    let activation = ActivationFunction(section, default: "logistic")
    try section.refuse("antialiasing", "Darknet leaves the sizes after it undefined")
    for key in ["sway", "rotate", "stretch", "stretch_sway"] {
      try section.refuse(key, "kernels rotated at run time are not supported")
    }
    try section.refuse("coordconv", "only Darknet's GPU code has it")
    if let option = section["groups"], filters % groups != 0 {
      throw section.error(option, "\(filters) filters are not divisible by \(groups) groups")
    }
    if dilation > 1, let option = section["dilation"], 2 * window.padding != window.size - 1 {
      throw section.error(
        option,
        "with size \(window.size) and padding \(window.padding), Darknet writes beyond its output",
        hint: "pad=1 and an odd size")
    }
    return { call, network in
      let input = try call.image
      guard input.channels % groups == 0 else {
        throw call.error("\(input.channels) channels are not divisible into \(groups) groups")
      }
      let kernelChannels = input.channels / groups
      let span = (window.size - 1) * dilation + 1
      let border = window.padding * dilation
      let height = try window.length(input.height, span, window.strideY, border, call)
      let width = try window.length(input.width, span, window.strideX, border, call)
      let shape = [filters, kernelChannels, window.size, window.size]
      let weights: ConvolutionWeights
      if let sharedIndex {
        let position = sharedIndex < 0 ? call.index + sharedIndex : sharedIndex
        weights = try network.convolutions[position].orThrow(
          call.error("share_index \(sharedIndex) is not an earlier convolution"))
        try call.require(
          weights.kernel.shape == shape && (weights.normalization != nil) == isNormalized,
          "it shares the weights of layer \(position), \(weights.kernel.shape), but needs \(shape)")
      } else {
        weights = try ConvolutionWeights(
          filters: filters, kernel: shape, isNormalized: isNormalized, isFlipped: isFlipped, call,
          from: &network)
      }
      network.convolutions[call.index] = weights
      let convolution = Convolution(
        shape, groups: groups, stride: [window.strideY, window.strideX],
        dilation: [dilation, dilation], border: [border, border])
      let blob = try network.add(
        convolution, hasSigns ? weights.ofSigns() : weights,
        takesSigns ? network.signs(input.blob, call.name) : input.blob, call)
      return try network.activate(activation, DarknetTensor(blob, filters, height, width), call)
    }
  }
}

/// The weights of a convolution as stored in the file.
struct ConvolutionWeights: Sendable {
  let bias: FloatValues
  let normalization: Normalization?
  private(set) var kernel: FloatValues

  init(
    filters: Int, kernel shape: [Int], isNormalized: Bool, isFlipped: Bool = false,
    _ call: LayerCall, from network: inout DarknetWriter
  ) throws {
    bias = try network.weights.take("biases", [filters], layer: call.name)
    normalization = isNormalized ? try Normalization(filters, from: &network, call) : nil
    let inputs = try checkedProduct(shape.dropFirst(), limit: Limits.tensorElements)
    if isFlipped {
      // One row per input, one column per filter.
      kernel = try network.weights.take(
        "weights", Array(shape.dropFirst()) + [filters], fanIn: inputs, layer: call.name
      ).transposed([3, 0, 1, 2])
    } else {
      kernel = try network.weights.take("weights", shape, fanIn: inputs, layer: call.name)
    }
  }
}

extension ConvolutionWeights {
  /// The sign of each weight times the mean magnitude of its filter, as `binary` and `xnor` use
  /// them. The sign of 0 is −1.
  func ofSigns() throws -> ConvolutionWeights {
    let stored = try kernel.array()
    guard let filters = kernel.shape.first, filters > 0, stored.count >= filters else {
      return self
    }
    let count = stored.count / filters
    var signs: [Float] = []
    signs.reserveCapacity(stored.count)
    for filter in 0..<filters {
      let row = stored[filter * count..<(filter + 1) * count]
      let mean = Float(row.reduce(0.0) { $0 + Double(abs($1)) } / Double(count))
      for weight in row { signs.append(weight > 0 ? mean : -mean) }
    }
    var result = self
    result.kernel = FloatValues(signs).shaped(kernel.shape)
    return result
  }
}

extension DarknetWriter {
  /// 1 for positive values and −1 for all others.
  mutating func signs(_ blob: String, _ name: String) -> String {
    let isPositive = add(name + "__positive__", GreaterThan().with(\.alpha, 0), [blob])
    return affine(isPositive, 2, -1, name + "__signs__")
  }

  /// Adds a convolution with its bias, or followed by its normalization.
  mutating func add(
    _ convolution: Convolution, _ weights: ConvolutionWeights, _ input: String, _ call: LayerCall
  ) -> String {
    var convolution = convolution
    convolution.kernel = Weights(weights.kernel)
    guard let normalization = weights.normalization else {
      convolution.hasBias = true
      convolution.bias = Weights(weights.bias)
      return add(call.name, convolution, [input])
    }
    let blob = add(call.name, convolution, [input])
    return add(call.name + "__batch_normalize__", normalization.layer(bias: weights.bias), [blob])
  }
}
