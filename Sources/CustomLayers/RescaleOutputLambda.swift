import Kernels
import TensorCore

/// (x + 1) · 127.5: from the range of tanh to that of a picture.
package final class RescaleOutputLambda: BuiltInCustomLayer, CustomLayerWithEquivalent {
  package static let className = "RescaleOutputLambda"
  package static let otherNames = ["DeprocessStylizedImage"]
  package static let notes = CustomLayerNotes("(x + 1) · 127.5")

  private let kernel: @Sendable (UnaryArguments) -> Void

  package init(parameters: [String: CustomLayerParameter]) throws {
    kernel = try InstructionSet.selected().kernels.unary
  }

  package func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try onlyInput(inputShapes)]
  }

  package var equivalent: CustomLayerEquivalent? { .function(.linear, alpha: [127.5], shift: 1) }

  package func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    for (input, output) in zip(inputs, outputs) {
      guard let source = input.elements.baseAddress, let target = output.elements.baseAddress
      else { continue }
      kernel(
        UnaryArguments(
          function: .linear, input: source, output: target, count: input.elements.count,
          alpha: 127.5, beta: 0, shift: 1))
    }
  }
}
