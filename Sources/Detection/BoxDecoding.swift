import Imaging
import TensorCore

/// How the boxes in a model's outputs are decoded.
package enum BoxDecoding: Sendable {
  case grid(DetectorOutput, GridDecoder)
  /// Four coordinates and the class scores of each box.
  case offsets(DetectorOutput, scores: DetectorOutput, SSDDecoder)
  case rows(DetectorOutput, DetectionRows)
  case cells(DetectorOutput, SideDecoder)
  case regions([DetectorOutput])
  case suppressed(SuppressedBoxes)

  /// Whether the model has already suppressed overlapping boxes.
  var isSuppressed: Bool {
    switch self {
    case .rows, .suppressed: true
    default: false
    }
  }
}

/// An output of a network as input of the detector.
package struct DetectorOutput: Sendable {
  package var name: String
  package var value: Tensor
  /// The position of a grid's channels; nil to derive it from the shape.
  package var channels: ChannelAxis?
  /// The columns of a row if this is part of an output; nil for all.
  package var columns: Range<Int>?

  package init(name: String, value: Tensor, channels: ChannelAxis? = nil) {
    (self.name, self.value, self.channels) = (name, value, channels)
  }

  /// The shape without leading axes of length 1.
  var shape: [Int] { Array(value.shape.drop { $0 == 1 }) }

  /// The value as `[C, H, W]` if it can be a grid with this number of channels; otherwise nil.
  func grid(channels: Int) -> Tensor? {
    var shape = value.shape
    while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
    guard shape.count == 3 else { return nil }
    if shape[0] == channels, self.channels != .last { return value.reshaped(shape) }
    guard shape[2] == channels, self.channels != .first else { return nil }
    return value.reshaped(shape).transposed([2, 0, 1])
  }

  /// The given columns of the output's rows.
  func columns(_ columns: Range<Int>) -> DetectorOutput {
    let width = value.shape.last ?? 1
    let elements = value.elements
    let part = stride(from: 0, to: elements.count, by: width).flatMap { row in
      elements[row + columns.lowerBound..<row + columns.upperBound]
    }
    var result = self
    result.value = Tensor(shape: [part.count / columns.count, columns.count], part)
    result.columns = columns
    return result
  }
}

/// The outputs of a model that ends with non-maximum suppression, as Vision reads them: the class
/// confidences of each box, and its center, width and height in fractions of the image.
package struct SuppressedBoxes: Sendable {
  package static let type = "nonMaximumSuppression"

  let confidences: Tensor
  let coordinates: Tensor

  func objects(threshold: Double) throws -> [DetectedObject] {
    let classes = confidences.shape.last ?? 0
    let count = coordinates.count / 4
    try require(
      coordinates.count == 4 * count && confidences.count == count * classes, .mismatch,
      "\(coordinates.shape) coordinates do not match \(confidences.shape) confidences")
    let (scores, positions) = (confidences.elements, coordinates.elements.map(Double.init))
    return (0..<count).compactMap { index in
      let own = scores[index * classes..<(index + 1) * classes]
      guard let best = own.indices.max(by: { own[$0] < own[$1] }), Double(own[best]) > threshold
      else { return nil }
      let position = positions[4 * index..<4 * index + 4].map { $0 }
      let box = Box(
        centerX: position[0], centerY: position[1], width: position[2], height: position[3])
      guard box.isFinite else { return nil }
      return DetectedObject(box: box, classIndex: best - own.startIndex, score: Double(own[best]))
    }
  }
}
