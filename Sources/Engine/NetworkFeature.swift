import CoreMLModel

/// An input or output of a compiled network.
public struct NetworkFeature: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case array
    /// Elements are 0 to 255, channels in the order of the colour space.
    case image(ImageFeatureType.ColorSpace)
    /// A classifier's probabilities, one a channel, in label order.
    case probabilities
  }

  public var name: String
  public var kind: Kind
  /// `[Seq, Batch, C, H, W]`, or the exact shape of a network with exact mapping.
  public var shape: [Int]
}
