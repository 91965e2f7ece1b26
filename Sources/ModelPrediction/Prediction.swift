import Imaging
import TensorCore

/// The outputs of a prediction, followed by the kept blobs.
public struct Prediction: Sendable {
  /// The outputs in the model's order, then the kept blobs.
  public var outputs: [PredictedOutput] = []

  /// An empty prediction.
  public init() {}
}

/// One value of a prediction.
public struct PredictedOutput: Sendable {
  /// The kind of a value.
  public enum Kind: Sendable {
    /// An array of any shape.
    case array
    /// `[H, W, C]` in RGB, neither rounded nor clamped.
    case image
    /// A classifier's probabilities in label order.
    case classes
    /// Not an output of the model but an internal blob.
    case blob
    /// A number, string, dictionary or double-precision array of a model that is not a network; the
    /// value has its numbers.
    case feature(FeatureValue)
  }

  /// The name of the output or blob.
  public let name: String
  /// What the value represents.
  public let kind: Kind
  /// The value.
  public let value: Tensor
  /// The position of the channels of an image or grid among the last three axes; nil if unknown.
  package internal(set) var channels: ChannelAxis?
}

extension PredictedOutput {
  /// The elements in the precision in which they were computed.
  package var numbers: [Double] {
    switch kind {
    case .feature(.double(let number)): [number]
    case .feature(.int(let number)): [Double(number)]
    case .feature(.numbers(let array)): array.elements
    default: value.elements.map(Double.init)
    }
  }

  /// The string, if it is one.
  package var text: String? { if case .feature(.string(let text)) = kind { text } else { nil } }
}
