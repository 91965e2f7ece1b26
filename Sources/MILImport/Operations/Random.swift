import CoreMLModel
import TensorCore

/// Random numbers. Without a seed, each prediction gets different numbers.
let randomRules: [OperationRule] = [
  OperationRule(
    "random_normal", "shape mean? stddev? seed?", "normally distributed random numbers"
  ) { call in
    try call.random(
      RandomNormalStatic().with(\.parameters.mean, call.float("mean", 0))
        .with(\.parameters.stdDev, call.float("stddev", 1)), "mean")
  },
  OperationRule(
    "random_uniform", "shape low? high? seed?",
    "uniformly distributed random numbers between low and high"
  ) { call in
    try call.random(
      RandomUniformStatic().with(\.parameters.minVal, call.float("low", 0))
        .with(\.parameters.maxVal, call.float("high", 1)), "low")
  },
  OperationRule("random_bernoulli", "shape prob? seed?", "1 with probability prob, else 0") {
    call in
    try call.random(
      RandomBernoulliStatic().with(\.parameters.prob, call.float("prob", 0.5)), "prob")
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
    let shape = try ints("shape") ?? []
    let layer = try layer.with(\.seed, int("seed") ?? -1)
      .with(\.outputShape, shape.isEmpty ? [1] : shape)
    let type = try optional(typed)?.type ?? .float32
    return [try reshaped(addAll(layer, [], types: [type])[0], shape)]
  }
}
