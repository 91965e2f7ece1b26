import Kernels
import TensorCore

@_exported import enum TensorCore.CustomLayerParameter

/// An input of a custom layer: dense row-major `Float`. Its shape is `[Seq, Batch, C, H, W]`, or of
/// any nonzero rank in networks with exact array mapping.
public struct CustomLayerInput {
  /// The sizes of the axes, outermost first.
  public let shape: [Int]
  /// The elements in row-major order; valid during the call.
  public let elements: UnsafeBufferPointer<Float>

  /// Creates an input that does not own its memory.
  public init(shape: [Int], elements: UnsafeBufferPointer<Float>) {
    self.shape = shape
    self.elements = elements
  }
}

/// A preallocated output of a custom layer: dense row-major `Float`, with the shape that
/// `outputShapes(forInputShapes:)` returned.
public struct CustomLayerOutput {
  /// The sizes of the axes, outermost first.
  public let shape: [Int]
  /// The elements in row-major order; valid during the call.
  public let elements: UnsafeMutableBufferPointer<Float>

  /// Creates an output that does not own its memory.
  public init(shape: [Int], elements: UnsafeMutableBufferPointer<Float>) {
    self.shape = shape
    self.elements = elements
  }
}

// Inputs and outputs of a network are never empty.
extension CustomLayerInput {
  /// The address of the first element.
  var first: UnsafePointer<Float> {
    guard let first = elements.baseAddress else { preconditionFailure("an input has no elements") }
    return first
  }
}

extension CustomLayerOutput {
  /// The address of the first element.
  var first: UnsafeMutablePointer<Float> {
    guard let first = elements.baseAddress else {
      preconditionFailure("an output buffer is missing")
    }
    return first
  }
}

/// An instance of a custom layer.
///
/// The engine calls `setWeights(_:)` once, then `outputShapes(forInputShapes:)` at every
/// compilation, then `evaluate` for each prediction. One object serves all predictions of a model
/// sequentially and may keep state between them; inputs with other shapes compile the network again
/// and ask the same object for its output shapes. An error that it throws is reported with the
/// names of layer and class.
public protocol CustomLayerImplementation: AnyObject {
  /// Receives the layer's weights in file order: little-endian 32-bit floats, or 16-bit floats if
  /// the model stores half precision.
  func setWeightData(_ weights: [Bytes]) throws
  /// The same for a class that needs the types of the bytes.
  func setWeights(_ weights: [CustomLayerWeight]) throws
  /// The shapes of the outputs, given those of the inputs.
  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]]
  /// Writes every element of the outputs; must not change the inputs.
  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws
}

/// A layer for which the engine may use a built-in operation instead of calling `evaluate`.
package protocol CustomLayerWithEquivalent: CustomLayerWithFormula {
  /// The function of the layer's only input; read after `setWeights(_:)`.
  var equivalent: CustomLayerEquivalent? { get }
}

extension CustomLayerImplementation {
  /// Passes the bytes to `setWeightData(_:)`.
  public func setWeights(_ weights: [CustomLayerWeight]) throws {
    try setWeightData(weights.map(\.bytes))
  }

  /// Throws if there are weights, because most classes use none.
  public func setWeightData(_ weights: [Bytes]) throws {
    if weights.isEmpty { return }
    throw ModelError(
      .malformed, "it has \(weights.count) weights, but the class takes none", field: "weights")
  }
}

/// Core ML's protocol for custom layers, as a Swift class.
public protocol CustomLayer: CustomLayerImplementation {
  /// The class name in the model.
  static var className: String { get }
  /// Other names that models use for the class.
  static var otherNames: [String] { get }
  /// Creates a layer. `parameters` contains what the model stores, and `engineName`.
  init(parameters: [String: CustomLayerParameter]) throws
}

extension CustomLayer {
  /// No other names.
  public static var otherNames: [String] { [] }
}

/// A built-in operation that is equivalent to a custom layer.
package enum CustomLayerEquivalent: Sendable, Equatable {
  /// `function(scale · x + shift)`, with one `alpha` or one per channel.
  case function(UnaryFunction, alpha: [Float], beta: Float = 0, scale: Float = 1, shift: Float = 0)
  /// Removes rows and columns at each border.
  case crop(border: Int)
}
