import Kernels
import TensorCore

/// x / (1 + exp(−β·x)); β is the parameter `beta`, or the layer's only weight, one value or one a
/// channel, or 1.
package final class Swish: BuiltInCustomLayer, CustomLayerWithEquivalent {
  package static let className = "Swish"
  package static let otherNames = ["swish", "SiLU"]
  package static let notes = CustomLayerNotes(
    "x / (1 + exp(−β · x))", parameters: ["`beta` (1)"], weights: "β, one value or one a channel")

  private var beta: [Float] = [1]
  private let kernel: @Sendable (UnaryArguments) -> Void

  package init(parameters: [String: CustomLayerParameter]) throws {
    kernel = try InstructionSet.selected().kernels.unary
    guard let parameter = parameters["beta"] else { return }
    guard let value = parameter.floatValue else {
      throw ModelError(.malformed, "\(parameter) is not a number", field: "parameters.beta")
    }
    beta = [value]
  }

  package func setWeights(_ weights: [CustomLayerWeight]) throws {
    guard weights.count <= 1 else {
      throw ModelError(
        .malformed, "\(weights.count) weights, where beta is the only one", field: "weights")
    }
    guard let weight = weights.first else { return }
    beta = try weight.floats()
    guard !beta.isEmpty else {
      throw ModelError(.malformed, "beta has no values, not one or one a channel", field: "weights")
    }
  }

  package func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try onlyInput(inputShapes)
    let channels = PlaneShape(shape).channels
    guard beta.count == 1 || beta.count == channels else {
      throw ModelError(
        .malformed, "\(beta.count) values of beta for \(channels) channels", field: "weights")
    }
    return [shape]
  }

  package var equivalent: CustomLayerEquivalent? { .function(.swish, alpha: beta) }

  package func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let input = inputs[0]
    guard let source = input.elements.baseAddress, let target = outputs[0].elements.baseAddress
    else { return }
    if beta.count == 1 {
      kernel(
        UnaryArguments(
          function: .swish, input: source, output: target, count: input.elements.count,
          alpha: beta[0]))
      return
    }
    let shape = PlaneShape(input.shape)
    let (channels, area) = (shape.channels, shape.area)
    for plane in 0..<input.elements.count / max(1, area) {
      kernel(
        UnaryArguments(
          function: .swish, input: source + plane * area, output: target + plane * area,
          count: area, alpha: beta[plane % channels]))
    }
  }
}
