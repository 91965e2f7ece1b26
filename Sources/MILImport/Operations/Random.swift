import CoreMLModel
import TensorCore

/// Random numbers. Without a seed, each prediction gets different numbers.
let randomRules: [OperationRule] = [
  OperationRule(
    "random_normal", "shape mean? stddev? seed?", "normally distributed random numbers"
  ) { call in
    var layer = RandomNormalStatic()
    layer.parameters.mean = try call.float("mean", 0)
    layer.parameters.stdDev = try call.float("stddev", 1)
    return try call.random(layer, "mean")
  },
  OperationRule(
    "random_uniform", "shape low? high? seed?",
    "uniformly distributed random numbers between low and high"
  ) { call in
    var layer = RandomUniformStatic()
    layer.parameters.minVal = try call.float("low", 0)
    layer.parameters.maxVal = try call.float("high", 1)
    return try call.random(layer, "low")
  },
  OperationRule("random_bernoulli", "shape prob? seed?", "1 with probability prob, else 0") {
    call in
    var layer = RandomBernoulliStatic()
    layer.parameters.prob = try call.float("prob", 0.5)
    return try call.random(layer, "prob")
  },
  OperationRule(
    "random_categorical", "x mode? size? seed?",
    "random indices of the last axis, with probabilities x or softmax(x)"
  ) { call in
    var layer = CategoricalDistribution()
    layer.numSamples = try call.int("size") ?? 1
    layer.seed = try call.int("seed") ?? -1
    let mode = try call.string("mode", "logits")
    try require(
      ["logits", "probs"].contains(mode), .unsupported, "mode '\(mode)' is not supported",
      field: "mode")
    layer.isLogits = mode == "logits"
    return [try call.add(layer, call.value("x"))]
  },
]

extension OperationCall {
  /// - Parameter typed: the argument that determines the type of the numbers.
  fileprivate func random<Parameters>(
    _ layer: RandomStatic<Parameters>, _ typed: String
  ) throws -> [ProgramValue] {
    var layer = layer
    layer.seed = try int("seed") ?? -1
    let shape = try ints("shape") ?? []
    layer.outputShape = shape.isEmpty ? [1] : shape
    let type = try optional(typed)?.type ?? .float32
    return [try reshaped(addAll(layer, [], types: [type])[0], shape)]
  }
}
