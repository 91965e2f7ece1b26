import ByteFormats
import CoreMLModel
import ImportSupport
import LibC
import TensorCore

// Layers of keras-cv-attention-models 1.4 that add stored or computed numbers.

/// x + a stored number for each element of an item, or for each channel.
struct PositionalEmbedding: KerasLayer {
  static let classes = [
    SourceLayer(
      "PositionalEmbedding", "BiasLayer", becomes: "bias, or loadConstant and add",
      options: "from keras-cv-attention-models", refused: "an `axis` other than the last"),
    SourceLayer("AddPositionEmbs", becomes: "loadConstant, add", options: "from vit-keras"),
  ]
  static let maskPolicy = MaskPolicy.passes

  private let isBias: Bool

  var leadingAxes: LeadingAxesPolicy { isBias ? .keeps : .refuses }

  init(_ configuration: LayerConfiguration) throws {
    isBias = configuration.className.hasSuffix("BiasLayer")
    if isBias {
      try configuration.require(
        configuration.ints("axis") ?? [-1] == [-1], "axis",
        unsupported: "only the last axis is supported")
    }
  }

  var weights: [WeightSlot] { [WeightSlot("table")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    if isBias {
      let bias = try call.weight("table", [input.channels])
      return [
        network.add(call.name, Bias(Weights(bias), bias.shape), to: input, along: input.rank - 1)
      ]
    }
    if input.rank == 3 {
      let (input, steps, channels) = try call.sequence()
      let table = try call.weight("table", [1, steps, channels]).shaped([steps, channels])
      return [network.adding(table, to: input, call.name)]
    }
    return [try network.adding(image: call.weight("table", input.shape.withOne), to: input, call)]
  }
}

extension [Int?] {
  /// A shape with a batch of 1.
  fileprivate var withOne: [Int?] { [1] + dropFirst() }
}

extension NetworkWriter {
  /// Adds a constant `[1, height, width, channels]` to an image.
  fileprivate mutating func adding(
    image table: FloatValues, to input: KerasTensor, _ call: LayerCall
  ) throws -> KerasTensor {
    try call.require(input.rank == 4, "its input \(input.shapeText) is not an image")
    let image = relaid(input, to: .image, for: call.name)
    let turned = table.shaped(Array(table.shape.dropFirst())).transposed([2, 0, 1])
    return image.with(add(call.name, Bias(Weights(turned), turned.shape), [image.blob]))
  }

  /// Adds a constant `[heads, queries, keys]` to the scores of an attention.
  mutating func adding(
    scores table: FloatValues, to input: KerasTensor, _ call: LayerCall
  ) -> KerasTensor {
    let layout =
      input.rank == 4 ? TensorLayout.imageChannelsFirst : .imageSequenceChannelsFirst
    let scores = relaid(input, to: layout, for: call.name)
    return scores.with(add(call.name, Bias(Weights(table), table.shape), [scores.blob]))
  }
}

/// Scores + a stored number for each head and each distance between two places of an image.
struct DistanceBias: KerasLayer {
  static let classes = [SourceLayer](
    "MultiHeadRelativePositionalEmbedding", "MultiHeadPositionalEmbedding", becomes: "bias",
    options:
      "`with_cls_token`, `attn_height`, `query_height`, `key_height`; from keras-cv-attention-models"
  )

  private let isRelative: Bool
  private let hasToken: Bool
  private let height: Int?
  private let keyHeight: Int?

  var leadingAxes: LeadingAxesPolicy { .keeps }

  init(_ configuration: LayerConfiguration) throws {
    isRelative = configuration.className.hasSuffix("RelativePositionalEmbedding")
    hasToken = try isRelative && configuration.bool("with_cls_token", default: true)
    height = try configuration.size(isRelative ? "attn_height" : "query_height")
    keyHeight = try isRelative ? nil : configuration.size("key_height")
  }

  var weights: [WeightSlot] { [WeightSlot("table")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    var input = try call.input
    // A single head may have no axis.
    let isSingle = !isRelative && input.rank == 3
    if isSingle, let raised = input.inserting(at: 1) { input = raised }
    try call.require(
      input.rank >= 4, "its input \(input.shapeText) is not the scores of several heads")
    let sizes = try call.known(input.shape.suffix(3), of: input)
    let (heads, queries, keys) = (sizes[0], sizes[1], sizes[2])
    try call.require(queries > 0 && keys > 0, "its input \(input.shapeText) has no scores")
    _ = try computedCount([heads, queries, keys])
    let places: [Int]
    let table: [Float]
    let count: Int
    if isRelative {
      let rows = queries - (hasToken ? 1 : 0)
      let height = self.height ?? Int(Double(rows).squareRoot())
      guard rows > 0, height > 0, rows % height == 0 else {
        throw call.error("its input \(input.shapeText) is not a grid of positions")
      }
      count = (2 * height - 1) * (2 * (rows / height) - 1) + (hasToken ? 3 : 0)
      places = try relative(queries, keys, height, count, call)
      table = try call.weight("table", [heads, count]).array()
    } else {
      count = keys
      places = try absolute(queries, keys, call)
      table =
        isSingle
        ? try call.weight("table", [keys]).array()
        : try call.weight("table", [keys, heads]).transposed([1, 0]).array()
    }
    guard places.allSatisfy({ (0..<count).contains($0) }) else {
      throw call.error("its input \(input.shapeText) does not fit its table of \(count)")
    }
    let values = (0..<heads).flatMap { head in places.map { table[head * count + $0] } }
    let sum = network.adding(
      scores: FloatValues(values).shaped([heads, queries, keys]), to: input, call)
    return [isSingle ? network.settled(sum.without([1]), for: call.name) : sum]
  }

  /// The number for the distance of two places, counted column by column; the last three numbers
  /// are those of the class token.
  private func relative(
    _ queries: Int, _ keys: Int, _ height: Int, _ count: Int, _ call: LayerCall
  ) throws -> [Int] {
    let token = hasToken ? 1 : 0
    let skipped = queries == keys ? 0 : queries - keys
    guard skipped >= 0 else { throw call.error("it has more keys than queries") }
    var places: [Int] = []
    places.reserveCapacity(queries * keys)
    for query in 0..<queries {
      for key in 0..<keys {
        if hasToken, query == 0 || key == 0 {
          places.append(query == 0 ? (key == 0 ? count - 1 : count - 3) : count - 2)
          continue
        }
        let (q, k) = (query - token, key - token + skipped)
        let across = q % height - k % height + height - 1
        let along = q / height - k / height + (queries - token) / height - 1
        places.append(across + along * (2 * height - 1))
      }
    }
    return places
  }

  /// The number for the absolute distance of two places; a step of a query is several of a key if
  /// there are fewer queries.
  private func absolute(_ queries: Int, _ keys: Int, _ call: LayerCall) throws -> [Int] {
    let queryHeight = height ?? Int(Double(queries).squareRoot())
    let stride = Int((Double(keys) / Double(queries)).squareRoot().rounded(.up))
    let (product, overflow) = queryHeight.multipliedReportingOverflow(by: stride)
    guard !overflow, product > 0 else { throw call.error("it has no positions") }
    var keyHeight = self.keyHeight ?? min(product, keys)
    if self.keyHeight == nil { while keys % keyHeight != 0 { keyHeight -= 1 } }
    var places: [Int] = []
    places.reserveCapacity(queries * keys)
    for query in 0..<queries {
      for key in 0..<keys {
        let across = abs(key % keyHeight - query % queryHeight * stride)
        let along = abs(key / keyHeight - query / queryHeight * stride)
        places.append(across + along * keyHeight)
      }
    }
    return places
  }
}

/// x + matrix · waves; the waves of a place are sines and cosines of its row and of its column.
struct PositionalEncodingFourier: KerasLayer {
  static let classes = [SourceLayer](
    "PositionalEncodingFourier", becomes: "bias",
    options: "`filters`, `temperature`; from keras-cv-attention-models")

  private let filters: Int
  private let temperature: Double

  init(_ configuration: LayerConfiguration) throws {
    filters = try configuration.int("filters", default: 32)
    temperature = try configuration.double("temperature", default: 1e4)
    try configuration.require(
      filters % 2 == 0 && filters <= 4096, "filters", unsupported: "\(filters) is not supported")
  }

  var weights: [WeightSlot] { WeightSlot.named("kernel", "bias") }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    try call.require(input.rank == 4, "its input \(input.shapeText) is not an image")
    let sizes = try call.known(input.shape.dropFirst(), of: input)
    let channels = sizes[2]
    _ = try checkedProduct(
      [sizes[0], sizes[1], channels, 2 * filters], limit: Limits.tensorElements)
    let count = try computedCount([sizes[0], sizes[1], channels])
    let kernel = try call.weight("kernel", [2 * filters, channels]).array()
    let bias = try call.weight("bias", [channels]).array()
    let rows = (0..<sizes[0]).map { waves($0, sizes[0]) }
    let columns = (0..<sizes[1]).map { waves($0, sizes[1]) }
    var values: [Float] = []
    values.reserveCapacity(count)
    for row in rows {
      for column in columns {
        let both = row + column
        for channel in 0..<channels {
          var sum = Double(bias[channel])
          for (index, wave) in both.enumerated() {
            sum += wave * Double(kernel[index * channels + channel])
          }
          values.append(Float(sum))
        }
      }
    }
    let table = FloatValues(values).shaped([1] + sizes)
    return [try network.adding(image: table, to: input, call)]
  }

  private func waves(_ place: Int, _ count: Int) -> [Double] {
    let angle = Double(place + 1) / (Double(count) + 1e-6) * 2 * Double.pi
    return (0..<filters).map { index in
      let scaled = angle / pow(temperature, Double(2 * (index / 2)) / Double(filters))
      return index % 2 == 0 ? sin(scaled) : cos(scaled)
    }
  }
}

/// weight · x + bias along an axis.
struct ChannelAffine: KerasLayer {
  static let classes = [SourceLayer](
    "ChannelAffine", becomes: "scale",
    options: "`axis`, `use_bias`; from keras-cv-attention-models")

  private let hasBias: Bool
  private let axes: [Int]

  var leadingAxes: LeadingAxesPolicy { axes == [-1] ? .keeps : .refuses }

  init(_ configuration: LayerConfiguration) throws {
    hasBias = try configuration.bool("use_bias", default: true)
    axes = try configuration.ints("axis") ?? [-1]
  }

  var weights: [WeightSlot] { WeightSlot.named("weight", hasBias ? "bias" : nil) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = network.settled(try call.input, for: call.name)
    let indices = try Set(axes.map { try call.axis($0, of: input) }).sorted()
    let sizes = try call.known(indices.map { input.shape[$0] }, of: input)
    // Stored with all axes if it is not the last one.
    let stored =
      indices == [input.rank - 1]
      ? sizes.map { Int?($0) }
      : (1..<input.rank).map { indices.contains($0) ? input.shape[$0] : 1 }
    let weight = try call.weight("weight", stored).shaped(sizes)
    let bias = try hasBias ? call.weight("bias", stored).shaped(sizes) : nil
    return [try network.scaled(input, along: indices, gamma: weight, beta: bias, call)]
  }
}

/// gain · x + bias, with one stored number each.
struct ZeroInitGain: KerasLayer {
  static let classes = [SourceLayer](
    "ZeroInitGain", becomes: "linear activation",
    options: "`use_bias`; from keras-cv-attention-models")

  private let hasBias: Bool

  var leadingAxes: LeadingAxesPolicy { .keeps }

  init(_ configuration: LayerConfiguration) throws {
    hasBias = try configuration.bool("use_bias", default: false)
  }

  var weights: [WeightSlot] { WeightSlot.named("gain", hasBias ? "bias" : nil) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    let gain = try call.weight("gain", []).array()[0]
    let bias = try hasBias ? call.weight("bias", []).array()[0] : 0
    return [input.with(network.affine(input.blob, gain, bias, call.name))]
  }
}

/// Σ gainᵢ xᵢ / Σ gainᵢ; negative gains count as 0.
struct ReluWeightedSum: KerasLayer {
  static let classes = [SourceLayer](
    "ReluWeightedSum", becomes: "linear activations, add",
    options: "from keras-cv-attention-models")

  init(_ configuration: LayerConfiguration) throws {}

  var weights: [WeightSlot] { [WeightSlot("gain")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let gains = try call.weight("gain", [call.inputs.count]).array().map { max($0, 0) }
    let sum = gains.reduce(0, +)
    try call.require(sum > 0, "no gain is positive")
    let parts = zip(call.inputs, gains).enumerated().map { index, pair in
      pair.0.with(
        network.affine(pair.0.blob, pair.1 / sum, 0, "\(call.name)__part_\(index)__"))
    }
    return [try call.part("Add", parts, "sum", &network)]
  }
}

/// A convolution whose kernel is standardized for each output: (kernel − mean) · gain · gamma /
/// √max(variance · n, epsilon), with the n weights of an output.
struct StandardizedConvolution: KerasLayer {
  static let classes = [SourceLayer](
    "ScaledStandardizedConv2D", becomes: "convolution",
    options: "`gamma`, `eps`, and those of Conv2D; from keras-cv-attention-models")

  private let layer: Conv
  private let epsilon: Double
  private let gamma: Double

  init(_ configuration: LayerConfiguration) throws {
    layer = try Conv(configuration)
    epsilon = try configuration.double("eps", default: 1e-5)
    gamma = try configuration.double("gamma", default: 1)
  }

  var weights: [WeightSlot] { layer.weights + [WeightSlot("gain")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    guard call.missingWeights == nil else { return try layer.convert(call, into: &network) }
    let place = try call.weights.firstIndex(where: { $0.name == "kernel" }).orThrow(
      call.error("weight 'kernel' is missing from the file"))
    let kernel = try call.weights[place].values()
    guard kernel.shape.count == 4, kernel.count > 0 else {
      throw call.error("its kernel has the shape \(KerasTensor.text(kernel.shape))")
    }
    let outputs = kernel.shape[3]
    let gain = try call.weight("gain", [outputs]).array()
    var values = try kernel.array()
    let inputs = values.count / outputs
    for output in 0..<outputs {
      let indices = stride(from: output, to: values.count, by: outputs)
      var mean = 0.0
      for index in indices { mean += Double(values[index]) / Double(inputs) }
      var squares = 0.0
      for index in indices {
        let distance = Double(values[index]) - mean
        squares += distance * distance
      }
      // The squares are n times the variance.
      let scale = gamma * Double(gain[output]) / max(squares, epsilon).squareRoot()
      for index in indices { values[index] = Float((Double(values[index]) - mean) * scale) }
    }
    let standardized = FloatValues(values).shaped(kernel.shape)
    var weights = call.weights
    weights[place].values = { standardized }
    return try layer.convert(
      call.with(name: call.name, inputs: call.inputs, weights: weights), into: &network)
  }
}
