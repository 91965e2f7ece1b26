import Kernels
import TensorCore

/// A parameter of a custom layer, as `CustomLayerParams` stores it.
public enum CustomLayerParameter: Sendable, Equatable {
  case double(Double)
  case string(String)
  case int(Int32)
  case long(Int64)
  case bool(Bool)

  /// The value as a floating-point number, where it is a number.
  public var floatValue: Float? {
    switch self {
    case .double(let value): Float(value)
    case .int(let value): Float(value)
    case .long(let value): Float(value)
    case .bool, .string: nil
    }
  }
}

/// Input of a custom layer: dense row-major `Float`, shape `[Seq, Batch, C, H, W]`, or the exact one
/// of a model of specification 4 and later.
public struct CustomLayerInput {
  public let shape: [Int]
  public let elements: UnsafeBufferPointer<Float>

  public init(shape: [Int], elements: UnsafeBufferPointer<Float>) {
    self.shape = shape
    self.elements = elements
  }
}

/// Preallocated output of a custom layer: dense row-major `Float`, of the shape that
/// `outputShapes(forInputShapes:)` gave.
public struct CustomLayerOutput {
  public let shape: [Int]
  public let elements: UnsafeMutableBufferPointer<Float>

  public init(shape: [Int], elements: UnsafeMutableBufferPointer<Float>) {
    self.shape = shape
    self.elements = elements
  }
}

/// A custom layer that has been made: what the engine calls.
///
/// `setWeightData(_:)` once, then `outputShapes(forInputShapes:)` at every compilation, then
/// `evaluate` for each prediction.
public protocol CustomLayerImplementation: AnyObject {
  /// The layer's weights in file order: little-endian 32-bit floats, or 16-bit where the model
  /// stores half precision.
  func setWeightData(_ weights: [Bytes]) throws
  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]]
  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws
  /// What the layer does to its only input, where the engine has an operation of its own for it;
  /// asked for after `setWeightData(_:)`. The engine then need not call `evaluate`.
  var equivalent: CustomLayerEquivalent? { get }
}

extension CustomLayerImplementation {
  public var equivalent: CustomLayerEquivalent? { nil }
}

/// Core ML's contract of a custom layer, as a Swift class.
public protocol CustomLayer: CustomLayerImplementation {
  /// The class name in the model.
  static var className: String { get }
  /// `parameters` holds what the model stores, and `engineName`.
  init(parameters: [String: CustomLayerParameter]) throws
}

/// A custom layer in the engine's own terms.
public enum CustomLayerEquivalent: Sendable, Equatable {
  /// `function(scale · x + shift)`, with one `alpha` or one a channel.
  case function(UnaryFunction, alpha: [Float], beta: Float = 0, scale: Float = 1, shift: Float = 0)
  /// Rows and columns taken from each border.
  case crop(border: Int)
}
