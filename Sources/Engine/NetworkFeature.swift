import CoreMLModel

/// An input or output of a compiled network.
package struct NetworkFeature: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case array
    /// Elements are from 0 to 255, with channels in the order of the color space.
    case image(ImageFeatureType.ColorSpace)
    /// A classifier's probabilities, one per channel, in the order of the labels.
    case probabilities
  }

  package var name: String
  package var kind: Kind
  /// `[Seq, Batch, C, H, W]`, or the exact shape for exact mapping.
  package var shape: [Int]
}
