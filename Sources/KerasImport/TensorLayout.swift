import Formulas
import TensorCore

/// An axis of Core ML's `[Seq, C, H, W]`.
enum BlobAxis: Int, CaseIterable, Sendable {
  case sequence = 0
  case channel = 1
  case height = 2
  case width = 3
}

/// The axis of a Core ML blob that holds each of Keras's axes, without the batch.
struct TensorLayout: Equatable, Sendable {
  var axes: [BlobAxis]

  static let vector = TensorLayout(axes: [.channel])
  /// Indices for an embedding.
  static let indices = TensorLayout(axes: [.sequence])
  static let sequence = TensorLayout(axes: [.sequence, .channel])
  /// Sequences of sequences, and sequences of sequences of indices.
  static let nestedSequence = TensorLayout(axes: [.height, .sequence, .channel])
  static let nestedIndices = TensorLayout(axes: [.height, .sequence])
  /// The layout of a sequence in one-dimensional layers, along W.
  static let steps = TensorLayout(axes: [.width, .channel])
  static let image = TensorLayout(axes: [.height, .width, .channel])
  static let imageChannelsFirst = TensorLayout(axes: [.channel, .height, .width])
  static let imageSequence = TensorLayout(axes: [.sequence, .height, .width, .channel])
  static let imageSequenceChannelsFirst = TensorLayout(axes: [.sequence, .channel, .height, .width])

  /// The permutation that converts this layout to `other`, which has equally many axes: axis `i` of
  /// the output is axis `result[i]` of the input. Unused axes keep their position if possible.
  func permutation(to other: TensorLayout) -> [Int] {
    Placement.permutation(4, from: axes.map(\.rawValue), to: other.axes.map(\.rawValue))
  }

  /// The letters of the axes, including the batch, such as `NHWC`.
  func letters(isImage: Bool) -> String {
    "N"
      + axes.map { axis in
        switch axis {
        case .sequence: "T"
        case .channel: "C"
        case .height: "H"
        case .width: isImage ? "W" : "T"
        }
      }.joined()
  }
}

/// A Keras tensor, and the blob that stores it.
struct KerasTensor: Sendable {
  var blob: String
  /// The shape including the batch; nil for an unknown size.
  var shape: [Int?]
  var layout: TensorLayout
  /// Whether the shape is merely assumed, because of a custom layer.
  var isShapeAssumed = false
  /// The values of a tensor of sizes, which has no blob.
  var sizes: KnownSizes?
  /// The values of an embedding's table, which has no blob.
  var table: FloatValues?
  /// The unmasked steps; nil if no step is masked.
  var mask: StepMask?
  /// The leading axes that the blob merges into one; nil if the blob has all axes.
  var leading: LeadingAxes?

  var rank: Int { shape.count }
  /// The size of the last axis.
  var channels: Int? { shape.last ?? nil }

  /// Keras's index of the axis that is stored in `axis`.
  func index(of axis: BlobAxis) -> Int? { layout.axes.firstIndex(of: axis).map { $0 + 1 } }

  func size(of axis: BlobAxis) -> Int? {
    index(of: axis).flatMap { $0 < shape.count ? shape[$0] : nil }
  }

  /// The number of elements of one item, if known.
  var itemCount: Int? {
    var product = 1
    for size in shape.dropFirst() {
      guard let size else { return nil }
      let (next, overflow) = product.multipliedReportingOverflow(by: size)
      guard !overflow else { return nil }
      product = next
    }
    return product
  }

  var shapeText: String { Self.text(shape) }

  static func text(_ shape: [Int?]) -> String {
    "(" + shape.map { $0.map(String.init) ?? "None" }.joined(separator: ", ") + ")"
  }
}
