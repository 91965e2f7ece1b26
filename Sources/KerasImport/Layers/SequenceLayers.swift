import ByteFormats
import CoreMLModel
import ImportSupport
import LibC
import TensorCore

// Layers of keras-self-attention 0.51, keras-multi-head 0.29, keras-pos-embd 0.13 and
// keras-position-wise-feed-forward 0.8.

/// matrix₂ · activation(matrix₁ · x)
struct FeedForward: KerasLayer {
  static let classes = [SourceLayer](
    "FeedForward", becomes: "two innerProducts",
    options:
      "`units`, `activation`, `use_bias`; from keras-position-wise-feed-forward; `gelu` is keras-transformer's, which approximates it with tanh"
  )
  static let maskPolicy = MaskPolicy.passes

  private let units: Int
  private let activation: JSONValue
  private let hasBias: Bool

  init(_ configuration: LayerConfiguration) throws {
    units = try configuration.int("units")
    activation = configuration["activation"] ?? .null
    hasBias = try configuration.bool("use_bias", default: true)
  }

  var weights: [WeightSlot] {
    WeightSlot.matrices("first", "second", hasBias: hasBias)
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    let channels = try call.known([input.channels], of: input)[0]
    // keras-bert and keras-transformer, which use this class, bring their own function of this name.
    let isApproximate = activation.string == "gelu"
    var inner = try call.dense(
      input, "first", units, hasBias: hasBias, activation: isApproximate ? .null : activation,
      &network)
    if isApproximate {
      inner = try call.step("gelu", [inner], "gelu", ["approximate": .bool(true)], &network)
    }
    return [try call.dense(inner, "second", channels, hasBias: hasBias, &network)]
  }
}

/// x + row i of a table at step i, or both side by side. The table is stored, or contains
/// sin(i / 10000^(c / n)) in the even columns c and cos(i / 10000^((c − 1) / n)) in the odd ones.
struct PositionEmbedding: KerasLayer {
  static let classes = [SourceLayer](
    "PositionEmbedding", "TrigPosEmbedding", "SinePositionEncoding",
    becomes: "loadConstant, add or concat",
    options:
      "`mode` add and concat; from keras-pos-embd; `sequence_length`, `max_wavelength`; from keras-hub",
    refused: "`mode` expand")
  static let maskPolicy = MaskPolicy.passes

  private let rows: Int?
  private let width: Int?
  private let isConcatenated: Bool
  /// Whether the table is not added, as in keras-hub's classes.
  private let isTable: Bool
  private let wavelength: Double

  init(_ configuration: LayerConfiguration) throws {
    let isSine = configuration.className == "SinePositionEncoding"
    wavelength = try isSine ? configuration.double("max_wavelength", default: 10000) : 10000
    isTable = isSine || configuration.field("sequence_length") != nil
    if isTable {
      rows = try isSine ? nil : configuration.int("sequence_length")
      (width, isConcatenated) = (nil, false)
      return
    }
    let isStored = configuration.className.hasSuffix("PositionEmbedding")
    let mode = try configuration.string("mode", default: isStored ? "expand" : "add")
    try configuration.require(
      mode == "add" || mode == "concat", "mode", unsupported: "'\(mode)' is not supported")
    isConcatenated = mode == "concat"
    rows = try isStored ? configuration.int("input_dim") : nil
    let given = try configuration.int("output_dim", default: 0, atLeast: 0)
    width = given == 0 ? nil : given
  }

  var weights: [WeightSlot] { rows == nil ? [] : [WeightSlot("embeddings")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, steps, channels) = try call.sequence()
    if isTable { try call.requireNoPositions() }
    if isTable, let rows {
      let table = try call.positions("embeddings", rows, channels, count: steps)
      return [network.settled(network.constantSequence(table, call.name), for: call.name)]
    }
    let width = isConcatenated ? self.width ?? channels : channels
    _ = try computedCount([steps, width])
    let table: FloatValues
    if let rows {
      try call.require(steps <= rows, "its input has \(steps) steps, its table \(rows)")
      let stored = try call.weight("embeddings", [rows, self.width ?? width]).array()
      try call.require(
        self.width ?? width == width,
        "its input has \(channels) channels, its table \(self.width ?? 0)")
      table = FloatValues(Array(stored.prefix(steps * width))).shaped([steps, width])
    } else {
      table = FloatValues(
        (0..<steps).flatMap { step in
          (0..<width).map { column -> Float in
            let power = pow(wavelength, Double(column - column % 2) / Double(width))
            let angle = Double(step) / power
            return Float(column % 2 == 0 ? sin(angle) : cos(angle))
          }
        }
      ).shaped([steps, width])
    }
    if isTable {
      return [network.settled(network.constantSequence(table, call.name), for: call.name)]
    }
    guard isConcatenated else { return [network.adding(table, to: input, call.name)] }
    let positions = network.constantSequence(table, call.name + "__table__")
    return [
      try call.part("Concatenate", [input, positions], "sequence", ["axis": .int(-1)], &network)
    ]
  }
}

/// softmax(query · keyᵀ / √size) · value
struct ScaledDotProductAttention: KerasLayer {
  static let classes = [SourceLayer](
    "ScaledDotProductAttention", becomes: "matrix products, \(SourceLayer.matrices), softmax",
    options: "`history_only`, masks; from keras-self-attention", refused: "`return_attention`")
  static let maskPolicy = MaskPolicy.decides

  private let isCausal: Bool

  init(_ configuration: LayerConfiguration) throws {
    isCausal = try configuration.bool("history_only", default: false)
    try configuration.require(
      !configuration.bool("return_attention", default: false), "return_attention",
      unsupported: "is not supported")
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    try call.require(
      call.inputs.count == 1 || call.inputs.count == 3, "it takes one input or three")
    let inputs = call.inputs.count == 3 ? call.inputs : Array(repeating: call.inputs[0], count: 3)
    var attention = HeadedAttention(heads: 1)
    attention.mask = AttentionMask(isCausal: isCausal, keys: inputs[1].mask.map { [$0] } ?? [])
    var result = try attention.attended(inputs[0], inputs[1], inputs[2], call, &network)
    result.mask = inputs[0].mask
    return [result]
  }
}

/// keras-multi-head's multi-head attention, which applies its activation to query, key, value and
/// result.
struct ProjectedAttention: Sendable {
  let heads: Int
  private let activation: JSONValue
  private let hasBias: Bool
  private let isCausal: Bool

  init(_ configuration: LayerConfiguration) throws {
    heads = try configuration.int("head_num")
    activation = configuration["activation"] ?? .null
    hasBias = try configuration.bool("use_bias", default: true)
    isCausal = try configuration.bool("history_only", default: false)
  }

  var weights: [WeightSlot] {
    WeightSlot.matrices("query", "key", "value", "output", hasBias: hasBias)
  }

  func convert(_ call: LayerCall, _ network: inout NetworkWriter) throws -> KerasTensor {
    try call.require(
      call.inputs.count == 1 || call.inputs.count == 3, "it takes one input or three")
    let inputs = call.inputs.count == 3 ? call.inputs : Array(repeating: call.inputs[0], count: 3)
    let channels = try call.known([inputs[2].channels], of: inputs[2])[0]
    var parts: [KerasTensor] = []
    for (input, path) in zip(inputs, ["query", "key", "value"]) {
      parts.append(
        try call.dense(
          input, path, channels, hasBias: hasBias, activation: activation, &network))
    }
    var attention = HeadedAttention(heads: heads)
    attention.mask = AttentionMask(isCausal: isCausal, keys: inputs[1].mask.map { [$0] } ?? [])
    let merged = try attention.attended(parts[0], parts[1], parts[2], call, &network)
    var result = try call.dense(
      merged, "output", channels, hasBias: hasBias, activation: activation, &network)
    result.mask = inputs[0].mask
    return result
  }
}

/// softmax(scores) · x; the scores are Σ a · tanh(x W + x' V + b) or x W x'ᵀ for all pairs of steps.
struct SequenceAttention: KerasLayer {
  static let classes = [SourceLayer](
    "SeqSelfAttention", becomes: "matrix products, \(SourceLayer.matrices), softmax",
    options:
      "`attention_type` additive and multiplicative, `attention_width`, `attention_activation`, `history_only`; from keras-self-attention",
    refused: "masks, `return_attention`")
  static let maskPolicy = MaskPolicy.decides

  private let units: Int
  private let isAdditive: Bool
  private let width: Int?
  private let isCausal: Bool
  private let hasPairBias: Bool
  private let hasBias: Bool
  private let activation: JSONValue

  init(_ configuration: LayerConfiguration) throws {
    units = try configuration.int("units", default: 32)
    let type = try configuration.string("attention_type", default: "additive")
    try configuration.require(
      type == "additive" || type == "multiplicative", "attention_type",
      unsupported: "'\(type)' is not supported")
    isAdditive = type == "additive"
    let width = try configuration.int("attention_width", default: 0, atLeast: 0)
    self.width = width == 0 ? nil : width
    isCausal = try configuration.bool("history_only", default: false)
    hasPairBias = try isAdditive && configuration.bool("use_additive_bias", default: true)
    hasBias = try configuration.bool("use_attention_bias", default: true)
    activation = configuration["attention_activation"] ?? .null
    try configuration.require(
      !configuration.bool("return_attention", default: false), "return_attention",
      unsupported: "is not supported")
  }

  var weights: [WeightSlot] {
    let pairs = isAdditive ? ["query/kernel", "key/kernel"] : []
    let names =
      pairs + (hasPairBias ? ["key/bias"] : []) + ["scale/kernel"] + (hasBias ? ["bias"] : [])
    return names.map { WeightSlot($0) }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (input, steps, channels) = try call.sequence()
    try call.require(input.mask == nil, unsupported: "masks are not supported")
    var scores: KerasTensor
    if isAdditive {
      scores = try pairs(input, call, &network)
    } else {
      let query = try call.dense(input, "scale", channels, hasBias: false, &network)
      scores = try network.matrixProduct(
        query, network.transposed(input), call.name + "__scores__", call)
    }
    if hasBias {
      let bias = try call.weight("bias", [1]).array()[0]
      scores.blob = network.affine(scores.blob, 1, bias, call.name + "__bias__")
    }
    if !activation.isNull {
      // A function of each element, in whatever layout.
      let settled = network.settled(scores, for: call.name + "_activation")
      scores = try call.part(
        "Activation", [settled], "activation", ["activation": activation], &network)
    }
    if let width {
      scores = network.relaid(
        scores, to: TensorLayout(axes: [.height, .width]), for: call.name + "_band")
      let terms = try band(width, steps)
      scores.blob = network.add(
        call.name + "__band__", Bias(Weights(terms), terms.shape), [scores.blob])
    }
    let (result, _) = try network.attended(scores, input, AttentionMask(), call.name, call)
    return [network.settled(result, for: call.name)]
  }

  private func pairs(
    _ input: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let query = try call.dense(input, "query", units, hasBias: false, &network)
    let key = try call.dense(input, "key", units, hasBias: hasPairBias, &network)
    var fields = JSONObject()
    fields["use_scale"] = .bool(true)
    let attention = try Attention(
      LayerConfiguration(
        name: call.name, className: "AdditiveAttention", fields: fields, version: call.version))
    let scale = try call.weight("scale/kernel", [units, 1])
    var inner = call.with(
      name: call.name, inputs: [query, key],
      weights: [
        StoredWeight(name: "scale", storedName: "scale", shape: [units]) { scale.shaped([units]) }
      ])
    inner.missingWeights = nil
    return try attention.sums(
      network.settled(query, for: call.name), network.settled(key, for: call.name), inner,
      &network)
  }

  /// −10000 for the pairs of steps outside the window.
  private func band(_ width: Int, _ steps: Int) throws -> FloatValues {
    _ = try computedCount([steps, steps])
    return FloatValues(
      (0..<steps).flatMap { query in
        (0..<steps).map { key -> Float in
          let lower = query - (isCausal ? width - 1 : width / 2)
          return key >= lower && key < lower + width ? 0 : -10000
        }
      }
    ).shaped([1, steps, steps])
  }
}

/// Σ softmax(x w + b) x over the steps.
struct WeightedSequence: KerasLayer {
  static let classes = [SourceLayer](
    "SeqWeightedAttention", becomes: "innerProduct, softmax, a product, a sum",
    options: "`use_bias`; from keras-self-attention", refused: "masks, `return_attention`")
  static let maskPolicy = MaskPolicy.decides

  private let hasBias: Bool

  init(_ configuration: LayerConfiguration) throws {
    hasBias = try configuration.bool("use_bias", default: true)
    try configuration.require(
      !configuration.bool("return_attention", default: false), "return_attention",
      unsupported: "is not supported")
  }

  var weights: [WeightSlot] { WeightSlot.inside("scores", "kernel", hasBias ? "bias" : nil) }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    try call.require(input.rank == 3, "its input \(input.shapeText) is not a sequence")
    try call.require(input.mask == nil, unsupported: "masks are not supported")
    var scores = try call.dense(input, "scores", 1, hasBias: hasBias, &network)
    scores = network.softmax(scores, axis: 1, call.name + "__softmax__")
    let product = try call.part("Multiply", [input, scores], "product", &network)
    return [try call.step("sum", [product], "sum", ["axis": .int(1)], &network)]
  }
}
