import Kernels
import TensorCore

/// x / (1 + exp(−β·x)); β is the parameter `beta`, or the layer's only weight, one value or one a
/// channel, or 1.
public final class Swish: CustomLayer {
  public static let className = "Swish"

  private var beta: [Float] = [1]
  private let kernel: @Sendable (UnaryArguments) -> Void

  public init(parameters: [String: CustomLayerParameter]) throws {
    kernel = try InstructionSet.selected().kernels.unary
    guard let parameter = parameters["beta"] else { return }
    guard let value = parameter.floatValue else {
      throw ModelError(.malformed, "\(parameter) is not a number", field: "parameters.beta")
    }
    beta = [value]
  }

  public func setWeights(_ weights: [CustomLayerWeight]) throws {
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

  public func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    guard inputShapes.count == 1, inputShapes[0].count == 5 else {
      throw ModelError(.malformed, "\(inputShapes.count) inputs, where one is needed")
    }
    let channels = inputShapes[0][2]
    guard beta.count == 1 || beta.count == channels else {
      throw ModelError(
        .malformed, "\(beta.count) values of beta for \(channels) channels", field: "weights")
    }
    return inputShapes
  }

  public var equivalent: CustomLayerEquivalent? { .function(.swish, alpha: beta) }

  public func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
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
    let channels = input.shape[2]
    let area = input.shape[3] * input.shape[4]
    for plane in 0..<input.elements.count / max(1, area) {
      kernel(
        UnaryArguments(
          function: .swish, input: source + plane * area, output: target + plane * area,
          count: area, alpha: beta[plane % channels]))
    }
  }
}
