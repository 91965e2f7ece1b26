import Imaging
import TensorCore

/// The outputs of a prediction, in the model's order, then the kept blobs.
public struct Prediction: Sendable {
  /// What the model gave, in its order, then the kept blobs.
  public var outputs: [PredictedOutput] = []

  /// Nothing yet.
  public init() {}
}

/// A value of a prediction.
public struct PredictedOutput: Sendable {
  /// What a value is.
  public enum Kind: Sendable {
    /// Numbers of any shape.
    case array
    /// `[H, W, C]` in RGB, neither rounded nor clamped.
    case image
    /// A classifier's probabilities in the order of the labels.
    case classes
    /// Not an output of the model: a blob inside.
    case blob
  }

  /// Of the output or blob.
  public let name: String
  /// What the value is.
  public let kind: Kind
  /// The numbers.
  public let value: Tensor
  /// Where the channels of an image or grid are among the last three axes; nil if that is not
  /// known.
  package let channels: ChannelAxis?

  package init(name: String, kind: Kind, value: Tensor, channels: ChannelAxis? = nil) {
    self.name = name
    self.kind = kind
    self.value = value
    self.channels = channels
  }
}
