import TensorCore

/// x / (1 + exp(−β·x)), where β is the parameter `beta` or the layer's only weight, one value or
/// one per channel; by default 1.
package final class Swish: BuiltInCustomLayer, CustomLayerWithEquivalent {
  package static let className = "Swish"
  package static let otherNames = ["swish", "SiLU"]
  package static let notes = CustomLayerNotes(
    "x / (1 + exp(−β · x))", parameters: ["`beta` (1)"], weights: "β, one value or one per channel")

  private var beta: [Float] = [1]
  private let kernels: LayerKernels

  package init(parameters: [String: CustomLayerParameter]) throws {
    kernels = try LayerKernels()
    guard let parameter = parameters["beta"] else { return }
    guard let value = parameter.floatValue else {
      throw ModelError(.malformed, "\(parameter) is not a number", field: "parameters.beta")
    }
    beta = [value]
  }

  package func setWeights(_ weights: [CustomLayerWeight]) throws {
    try require(
      weights.count <= 1, "it has \(weights.count) weights; only beta is allowed", field: "weights")
    guard let weight = weights.first else { return }
    beta = try weight.floats()
    try require(
      !beta.isEmpty, "beta has no values; one, or one per channel, is needed", field: "weights")
  }

  package func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    let channels = PlaneShape(shape).channels
    try require(
      beta.count == 1 || beta.count == channels,
      "\(beta.count) values of beta for \(channels) channels", field: "weights")
    return [shape]
  }

  package var equivalent: CustomLayerEquivalent? { .function(.swish, alpha: beta) }

  package func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    equivalent?.evaluate(inputs[0], outputs[0], kernels)
  }
}
