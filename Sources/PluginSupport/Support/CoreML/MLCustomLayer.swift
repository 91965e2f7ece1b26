@_exported import Foundation

/// A layer that Core ML does not know, as Apple's framework declares it. A class that conforms to
/// it there conforms to it here; `encode(commandBuffer:inputs:outputs:)` belongs behind
/// `#if canImport(Metal)`.
public protocol MLCustomLayer: AnyObject {
  /// `parameters` holds numbers as `NSNumber` and text as `String`, and `engineName`, the class name
  /// in the model.
  init(parameters: [String: Any]) throws
  /// The weights in the model's order, as it stores them: little-endian floats, 32 or 16 bits each.
  func setWeightData(_ weights: [Data]) throws
  /// `[Seq, Batch, C, H, W]`, or exact shapes in models of specification 4 and later.
  func outputShapes(forInputShapes inputShapes: [[NSNumber]]) throws -> [[NSNumber]]
  /// Writes every element of the outputs, which have the shapes that
  /// `outputShapes(forInputShapes:)` gave. The inputs are not to be changed.
  func evaluate(inputs: [MLMultiArray], outputs: [MLMultiArray]) throws
}
