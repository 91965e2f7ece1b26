import CoreMLModel
import ImportSupport
import TensorCore

extension NetworkWriter {
  /// softmax(scores) · values, over the last axis of the scores.
  ///
  /// - Parameter isCausal: whether a query heeds only the keys up to its own place.
  mutating func attended(
    _ scores: KerasTensor, _ values: KerasTensor, isCausal: Bool, _ name: String,
    _ call: LayerCall
  ) throws -> (result: KerasTensor, weights: KerasTensor) {
    var scores = scores
    if isCausal {
      let rank = scores.rank
      let axes = try ReducibleAxes([rank - 2, rank - 1], of: scores, call)
      guard let rows = scores.shape[rank - 2], let columns = scores.shape[rank - 1] else {
        throw call.error("its input \(scores.shapeText) has an unknown size", code: .mismatch)
      }
      scores = relaid(scores, to: axes.layout, for: name + "_scores")
      var mask = Bias()
      mask.shape = [1, rows, columns]
      _ = try checkedProduct([rows, columns], limit: 1 << 26)
      mask.bias = Weights(
        (0..<rows).flatMap { row in (0..<columns).map { $0 > row ? -1e9 : Float(0) } })
      scores.blob = add(name + "__mask__", mask, [scores.blob])
    }
    let weights = softmax(scores, axis: scores.rank - 1, name + "__weights__")
    return (try matrixProduct(weights, values, name, call), weights)
  }
}

extension LayerCall {
  /// A keyword of the call that is no tensor.
  fileprivate func flag(_ name: String) -> Bool {
    if case .value(let value)? = arguments.keywords[name] { return value.bool ?? false }
    return false
  }

  /// Query, value and key.
  fileprivate func attentionInputs(
    _ network: inout NetworkWriter
  ) throws -> (query: KerasTensor, value: KerasTensor, key: KerasTensor) {
    guard (2...3).contains(inputs.count) else {
      throw error("it takes two or three inputs, not \(inputs.count)")
    }
    guard inputs.allSatisfy({ $0.rank == 3 }) else {
      throw unsupported(
        "inputs \(inputs.map(\.shapeText).joined(separator: ", ")): only sequences are supported")
    }
    guard inputs.allSatisfy({ $0.mask == nil }) else {
      throw unsupported("a mask of its inputs: attention to some of the steps is not supported")
    }
    let sequences = inputs.map { network.standard($0, for: name) }
    return (sequences[0], sequences[1], sequences[inputs.count == 3 ? 2 : 1])
  }
}

/// softmax(scale · query · keyᵀ) · value
///
/// The score of `concat` and of `AdditiveAttention` is Σ scale · tanh(query + key) instead.
struct Attention: KerasLayer {
  static let classNames = ["Attention", "AdditiveAttention"]

  private let isAdditive: Bool
  private let isConcat: Bool
  private let hasScale: Bool
  private let isCausal: Bool

  init(_ configuration: LayerConfiguration) throws {
    isAdditive = configuration.className.contains("AdditiveAttention")
    let mode = try configuration.string("score_mode", default: "dot")
    guard mode == "dot" || mode == "concat" else {
      throw configuration.unsupported("score_mode", "'\(mode)' is not supported")
    }
    isConcat = mode == "concat"
    hasScale = try configuration.bool("use_scale", default: isAdditive)
    isCausal = try configuration.bool("causal", default: false)
  }

  var weights: [WeightSlot] {
    (hasScale ? [WeightSlot("scale")] : [])
      + (isConcat && !isAdditive ? [WeightSlot("concat_score_weight")] : [])
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (query, value, key) = try call.attentionInputs(&network)
    var scores: KerasTensor
    if isAdditive || isConcat {
      scores = try sums(query, key, call, &network)
    } else {
      scores = try network.matrixProduct(
        query, network.transposed(key), call.name + "__scores__", call)
      if hasScale {
        let scale = try call.weight("scale", []).array()[0]
        scores.blob = network.affine(scores.blob, scale, 0, call.name + "__scale__")
      }
    }
    let (result, weights) = try network.attended(
      scores, value, isCausal: isCausal || call.flag("use_causal_mask"), call.name, call)
    return call.flag("return_attention_scores") ? [result, weights] : [result]
  }

  /// Σ scale · tanh(query + key) for all pairs of steps.
  private func sums(
    _ query: KerasTensor, _ key: KerasTensor, _ call: LayerCall, _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    guard let rows = query.shape[1], let columns = key.shape[1], let size = query.channels,
      key.channels == size, !query.isGuess, !key.isGuess
    else {
      throw call.error(
        "its inputs \(query.shapeText) and \(key.shapeText) do not fit or have an unknown size",
        code: .mismatch, hint: "fix it with --input-shape")
    }
    _ = try checkedProduct([rows, columns, size], limit: 1 << 28)
    func grid(_ tensor: KerasTensor, _ place: BlobAxis, _ factors: [Int], _ name: String) -> String
    {
      var upsample = Upsample()
      upsample.mode = .nearest
      upsample.scalingFactor = factors
      let moved = network.relaid(tensor, to: TensorLayout(axes: [place, .channel]), for: name)
      return network.add(name, upsample, [moved.blob])
    }
    let name = call.name
    var scale: Float = 1
    if !isAdditive, hasScale { scale = try call.weight("scale", []).array()[0] }
    var sum = network.sum(
      [
        grid(query, .height, [1, columns], name + "__queries__"),
        grid(key, .width, [rows, 1], name + "__keys__"),
      ], name + "__pairs__")
    if scale != 1 { sum = network.affine(sum, scale, 0, name + "__factor__") }
    var scores = network.add(name + "__tanh__", Activation(.tanh), [sum])
    if isAdditive, hasScale {
      var factors = Scale()
      factors.shapeScale = [size]
      factors.scale = Weights(try call.weight("scale", [size]))
      scores = network.add(name + "__scale__", factors, [scores])
    }
    scores = network.reduced(.sum, .c, scores, name + "__scores__")
    if !isAdditive {
      let weight = try call.weight("concat_score_weight", []).array()[0]
      scores = network.affine(scores, weight, 0, name + "__weight__")
    }
    var result = query
    result.blob = scores
    result.shape = [query.shape[0], rows, columns]
    result.layout = TensorLayout(axes: [.height, .width])
    return result
  }
}

/// Attention of several heads: query, key and value each through a matrix a head,
/// softmax(query · keyᵀ / √size) · value in each head, and all heads through one more matrix.
struct MultiHeadAttention: KerasLayer {
  static let classNames = ["MultiHeadAttention"]

  private let heads: Int
  private let keySize: Int
  private let valueSize: Int
  private let hasBias: Bool

  init(_ configuration: LayerConfiguration) throws {
    heads = try configuration.int("num_heads")
    keySize = try configuration.int("key_dim")
    valueSize = try configuration.int("value_dim", default: keySize)
    hasBias = try configuration.bool("use_bias", default: true)
    if let axes = try configuration.ints("attention_axes"), axes != [1] {
      throw configuration.unsupported(
        "attention_axes", "\(axes): attention along the steps of a sequence is supported")
    }
    if let shape = try configuration.ints("output_shape"), shape.count != 1 {
      throw configuration.unsupported("output_shape", "\(shape) has more than one axis")
    }
    guard try !configuration.bool("use_gate", default: false) else {
      throw configuration.unsupported("use_gate", "is not supported")
    }
  }

  private static let parts = ["query", "key", "value", "attention_output"]

  var weights: [WeightSlot] {
    Self.parts.flatMap { part in
      [WeightSlot(part + "_kernel")] + (hasBias ? [WeightSlot(part + "_bias")] : [])
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let (query, value, key) = try call.attentionInputs(&network)
    let queries = try projected(query, "query", keySize, call, &network)
    let keys = try projected(key, "key", keySize, call, &network)
    let values = try projected(value, "value", valueSize, call, &network)
    var scores = try network.matrixProduct(
      queries, network.transposed(keys), call.name + "__scores__", call)
    scores.blob = network.affine(
      scores.blob, 1 / Float(keySize).squareRoot(), 0, call.name + "__scale__")
    let (attended, weights) = try network.attended(
      scores, values, isCausal: call.flag("use_causal_mask"), call.name + "__heads__", call)
    // [heads, steps, size] to [steps, heads · size]
    var turned = attended
    turned.shape = [attended.shape[0], attended.shape[2], attended.shape[1], attended.shape[3]]
    turned.layout.axes.swapAt(0, 1)
    guard let steps = turned.shape[1] else {
      throw call.error("its input \(query.shapeText) has an unknown size", code: .mismatch)
    }
    let inner = heads * valueSize
    turned = network.relaid(turned, to: .imageChannelsFirst, for: call.name + "_merge")
    let merged = try network.reshaped(
      turned, to: [steps, inner], preferred: .channelsFirst,
      call.with(name: call.name + "__merged__", inputs: []))
    let kernel = try call.weight("attention_output_kernel", [heads, valueSize, nil])
    let outputs = kernel.shape[2]
    let bias = hasBias ? Weights(try call.weight("attention_output_bias", [outputs])) : nil
    var result = merged
    result.blob = network.matrixProduct(
      merged.blob, Weights(kernel.shaped([inner, outputs]).transposed([1, 0])), inputs: inner,
      outputs: outputs, bias: bias, call.name)
    result.shape[2] = outputs
    return call.flag("return_attention_scores") ? [result, weights] : [result]
  }

  /// `[heads, steps, size]` of a sequence.
  private func projected(
    _ input: KerasTensor, _ part: String, _ size: Int, _ call: LayerCall,
    _ network: inout NetworkWriter
  ) throws -> KerasTensor {
    let kernel = try call.weight(
      part + "_kernel", [input.isGuess ? nil : input.channels, heads, size])
    let inner = try checkedProduct([heads, size], limit: Limits.dimension)
    let bias =
      hasBias ? Weights(try call.weight(part + "_bias", [heads, size]).shaped([inner])) : nil
    let inputs = kernel.shape[0]
    var result = input
    result.blob = network.matrixProduct(
      input.blob, Weights(kernel.shaped([inputs, inner]).transposed([1, 0])), inputs: inputs,
      outputs: inner, bias: bias, "\(call.name)__\(part)__")
    result.shape[2] = inner
    guard let steps = input.shape[1] else {
      throw call.error(
        "its input \(input.shapeText) has an unknown size", code: .mismatch,
        hint: "fix it with --input-shape")
    }
    var split = try network.reshaped(
      result, to: [steps, heads, size], preferred: .channelsFirst,
      call.with(name: "\(call.name)__\(part)_heads__", inputs: []))
    split.shape.swapAt(1, 2)
    split.layout.axes.swapAt(0, 1)
    return split
  }
}
