import Kernels
import TensorCore

/// A built-in custom layer that applies one of the kernels' functions to each element: its names
/// and its function.
protocol ElementwiseDefinition {
  static var className: String { get }
  static var otherNames: [String] { get }
  static var notes: CustomLayerNotes { get }
  static func function(_ parameters: CustomLayerParameters) throws -> CustomLayerEquivalent
}

extension ElementwiseDefinition {
  static var otherNames: [String] { [] }
}

enum HardSwishDefinition: ElementwiseDefinition {
  static let className = "HardSwish"
  static let otherNames = ["Hardswish", "HSwish"]
  static let notes = CustomLayerNotes("x · min(max(x / 6 + 1/2, 0), 1)")

  static func function(_ parameters: CustomLayerParameters) throws -> CustomLayerEquivalent {
    .function(.hardSwish, alpha: [Float(1) / 6], beta: 0.5)
  }
}

enum MishDefinition: ElementwiseDefinition {
  static let className = "Mish"
  static let notes = CustomLayerNotes("x · tanh(log(1 + exp(x)))")

  static func function(_ parameters: CustomLayerParameters) throws -> CustomLayerEquivalent {
    .function(.mish, alpha: [0])
  }
}

enum GELUDefinition: ElementwiseDefinition {
  static let className = "GELU"
  static let otherNames = ["Gelu", "gelu"]
  static let notes = CustomLayerNotes(
    "x / 2 · (1 + erf(x / √2)); approximate: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))",
    parameters: ["`approximate`, bool, or `tanh` or `none` (false)"])

  static func function(_ parameters: CustomLayerParameters) throws -> CustomLayerEquivalent {
    let isApproximate: Bool
    if let word = try? parameters.choice("approximate", of: ["none", "tanh"]) {
      isApproximate = word == "tanh"
    } else {
      isApproximate = try parameters.bool("approximate") ?? false
    }
    return .function(isApproximate ? .tanhGelu : .gelu, alpha: [0])
  }
}

/// Maps the range of tanh to that of an image.
enum RescaleOutputDefinition: ElementwiseDefinition {
  static let className = "RescaleOutputLambda"
  static let otherNames = ["DeprocessStylizedImage"]
  static let notes = CustomLayerNotes("(x + 1) · 127.5", expression: "(x + 1) * 127.5")

  static func function(_ parameters: CustomLayerParameters) throws -> CustomLayerEquivalent {
    .function(.linear, alpha: [127.5], shift: 1)
  }
}

/// The identity, as in kraken's `identity`, and `dropout`, which acts only in training.
enum IdentityDefinition: ElementwiseDefinition {
  static let className = "identity"
  static let otherNames = ["Identity", "dropout", "Dropout"]
  static let notes = CustomLayerNotes("y = x", parameters: ["`dim`, `p`: ignored"])

  static func function(_ parameters: CustomLayerParameters) throws -> CustomLayerEquivalent {
    // Preserves a negative zero.
    .function(.linear, alpha: [1], beta: -0.0)
  }
}

/// The layer for an `ElementwiseDefinition`.
final class ElementwiseCustomLayer<Definition: ElementwiseDefinition>: BuiltInCustomLayer,
  CustomLayerWithEquivalent
{
  static var className: String { Definition.className }
  static var otherNames: [String] { Definition.otherNames }
  static var notes: CustomLayerNotes { Definition.notes }

  let equivalent: CustomLayerEquivalent?
  private let kernels: LayerKernels

  init(parameters: [String: CustomLayerParameter]) throws {
    equivalent = try Definition.function(CustomLayerParameters(values: parameters))
    kernels = try LayerKernels()
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    [try onlyInput(inputShapes)]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    equivalent?.evaluate(inputs[0], outputs[0], kernels)
  }
}

extension CustomLayerEquivalent {
  /// Computes the function; `alpha` is one value or one per channel.
  func evaluate(_ input: CustomLayerInput, _ output: CustomLayerOutput, _ kernels: LayerKernels) {
    guard case .function(let function, let alpha, let beta, let scale, let shift) = self else {
      return
    }
    let (source, target) = (input.first, output.first)
    let shape = PlaneShape(input.shape)
    let count = alpha.count == 1 ? input.elements.count : shape.area
    for plane in 0..<input.elements.count / max(1, count) {
      kernels.table.unary(
        UnaryArguments(
          function: function, input: source + plane * count, output: target + plane * count,
          count: count,
          .init(alpha: alpha[plane % alpha.count], beta: beta, scale: scale, shift: shift)))
    }
  }
}
