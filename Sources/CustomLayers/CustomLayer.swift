import Kernels
import TensorCore

@_exported import enum TensorCore.CustomLayerParameter

/// Input of a custom layer: dense row-major `Float`. Its shape is `[Seq, Batch, C, H, W]`, or of any
/// rank from 1 in networks with exact array mapping.
public struct CustomLayerInput {
  /// Outermost axis first.
  public let shape: [Int]
  /// The elements in row-major order; valid during the call.
  public let elements: UnsafeBufferPointer<Float>

  /// An input that does not own its memory.
  public init(shape: [Int], elements: UnsafeBufferPointer<Float>) {
    self.shape = shape
    self.elements = elements
  }
}

/// Preallocated output of a custom layer: dense row-major `Float`, with the shape that
/// `outputShapes(forInputShapes:)` returned.
public struct CustomLayerOutput {
  /// Outermost axis first.
  public let shape: [Int]
  /// The elements in row-major order; valid during the call.
  public let elements: UnsafeMutableBufferPointer<Float>

  /// An output that does not own its memory.
  public init(shape: [Int], elements: UnsafeMutableBufferPointer<Float>) {
    self.shape = shape
    self.elements = elements
  }
}

// No input and no output of a network is empty.
extension CustomLayerInput {
  /// Where the elements are.
  var first: UnsafePointer<Float> {
    guard let first = elements.baseAddress else { preconditionFailure("an input has no elements") }
    return first
  }
}

extension CustomLayerOutput {
  /// Where the elements belong.
  var first: UnsafeMutablePointer<Float> {
    guard let first = elements.baseAddress else {
      preconditionFailure("an output buffer is missing")
    }
    return first
  }
}

/// An instance of a custom layer, as the engine calls it.
///
/// `setWeights(_:)` is called once, then `outputShapes(forInputShapes:)` at every compilation, then
/// `evaluate` for each prediction. One object serves all predictions of a model sequentially and
/// may keep state between them; inputs with other shapes compile the network again and call the
/// same object for its output shapes. An error that it throws becomes one error that names the
/// layer and the class.
public protocol CustomLayerImplementation: AnyObject {
  /// The layer's weights in file order: little-endian 32-bit floats, or 16-bit where the model
  /// stores half precision.
  func setWeightData(_ weights: [Bytes]) throws
  /// The same for a class that wants to know what the bytes are.
  func setWeights(_ weights: [CustomLayerWeight]) throws
  /// The shapes of the outputs for those of the inputs.
  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]]
  /// Writes every element of the outputs; the inputs are not to be changed.
  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws
}

/// A layer for which the engine may have an operation of its own, and then need not call `evaluate`.
package protocol CustomLayerWithEquivalent: CustomLayerWithFormula {
  /// What the layer does to its only input; asked for after `setWeights(_:)`.
  var equivalent: CustomLayerEquivalent? { get }
}

extension CustomLayerImplementation {
  /// Passes the bytes to `setWeightData(_:)`.
  public func setWeights(_ weights: [CustomLayerWeight]) throws {
    try setWeightData(weights.map(\.bytes))
  }

  /// Refuses weights, because most classes take none.
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
  /// Further names under which models call the class.
  static var otherNames: [String] { get }
  /// `parameters` holds what the model stores, and `engineName`.
  init(parameters: [String: CustomLayerParameter]) throws
}

extension CustomLayer {
  /// None.
  public static var otherNames: [String] { [] }
}

/// A custom layer in the engine's own terms.
package enum CustomLayerEquivalent: Sendable, Equatable {
  /// `function(scale · x + shift)`, with one `alpha` or one per channel.
  case function(UnaryFunction, alpha: [Float], beta: Float = 0, scale: Float = 1, shift: Float = 0)
  /// Rows and columns taken from each border.
  case crop(border: Int)
}
