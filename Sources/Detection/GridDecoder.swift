import LibC
import TensorCore

/// The grid of YOLO v2, v3 or v4, `[C, H, W]`: the channels of box b start at b · (classes + 5)
/// with x, y, w, h, the confidence, then the classes.
///
/// For the position in column i and row j of a grid of W × H, σ the logistic function, (a, b) the box's
/// anchor and s `scale`, in parts of the image:
///
///     x = (i + s·σ(tx) − (s − 1)/2) / W,  y = (j + s·σ(ty) − (s − 1)/2) / H
///     region: w = a·exp(tw) / W,  h = b·exp(th) / H
///     yolo: w = a·exp(tw) / image width,  h = b·exp(th) / image height
///     isLogistic: x = (i + s·tx − (s − 1)/2) / W,  w = 4·tw²·a / image width
///
/// (x, y) is the center of the box. The score of class c is σ(confidence) · p(c), where p is a
/// softmax over the classes (`region` with `softmax`) or σ. Sources: Darknet's `region_layer.c`,
/// `yolo_layer.c` and `gaussian_yolo_layer.c`.
package struct GridDecoder: Sendable, Equatable {
  package enum Kind: Sendable {
    /// YOLO v2: anchors in cells of the grid.
    case region
    /// YOLO v3 and v4: anchors in pixels of the model's image.
    case yolo
    /// Each of x, y, w and h is followed by its uncertainty u; the score is multiplied by 1 − the
    /// mean of σ(u).
    case gaussian
  }

  package var kind: Kind
  package var classes: Int
  /// Widths and heights, one pair per box of a cell.
  package var anchors: [(width: Double, height: Double)]
  /// The number of values of a box before its confidence; 4 unless there is a mask.
  package var coordinates = 4
  /// `region`: whether the classes use a softmax instead of logistic functions.
  package var isSoftmax = true
  /// `region`: whether the confidence is the background class instead.
  package var hasBackground = false
  /// Darknet's `scale_x_y`.
  package var scale = 1.0
  /// Darknet's `new_coords`.
  package var isLogistic = false

  package static func == (a: GridDecoder, b: GridDecoder) -> Bool {
    a.kind == b.kind && a.classes == b.classes && a.coordinates == b.coordinates
      && a.isSoftmax == b.isSoftmax && a.hasBackground == b.hasBackground && a.scale == b.scale
      && a.isLogistic == b.isLogistic && a.anchors.elementsEqual(b.anchors) { $0 == $1 }
  }

  /// The number of values of a box.
  package var numbers: Int { (kind == .gaussian ? 8 : coordinates) + 1 + classes }

  /// The number of channels that the grid must have.
  package var channels: Int { anchors.count * numbers }

  /// All boxes and classes with a score above `threshold`, in fractions of an image of `width` ×
  /// `height` pixels.
  ///
  /// - Parameter grid: `[C, H, W]`.
  /// - Throws: `.mismatch` if the grid has a different number of channels.
  package func objects(
    in grid: Tensor, width: Int, height: Int, threshold: Double
  ) throws -> [DetectedObject] {
    try require(
      grid.shape.count == 3 && grid.shape[0] == channels && channels > 0, .mismatch,
      "a grid of shape \(grid.shape): \(anchors.count) boxes of \(classes) classes need "
        + "\(channels) channels", hint: "check the anchors: channels = boxes · (classes + 5)")
    let (rows, columns) = (grid.shape[1], grid.shape[2])
    let plane = rows * columns
    var objects: [DetectedObject] = []
    grid.withUnsafeElements { elements in
      for (index, anchor) in anchors.enumerated() {
        for row in 0..<rows {
          for column in 0..<columns {
            let cell = Cell(
              elements: elements, first: index * numbers * plane + row * columns + column,
              step: plane, column: Double(column), row: Double(row), columns: Double(columns),
              rows: Double(rows))
            let scores = scores(cell, threshold: threshold)
            if scores.isEmpty { continue }
            let box = box(cell, anchor, width: Double(width), height: Double(height))
            guard box.isFinite else { continue }
            for (label, score) in scores {
              objects.append(DetectedObject(box: box, classIndex: label, score: score))
            }
          }
        }
      }
    }
    return objects
  }

  private struct Cell {
    let elements: UnsafeBufferPointer<Float>
    let first: Int
    let step: Int
    let column: Double
    let row: Double
    /// Of the grid.
    let columns: Double
    let rows: Double

    subscript(number: Int) -> Double { Double(elements[first + number * step]) }
  }

  private func box(
    _ cell: Cell, _ anchor: (width: Double, height: Double), width: Double, height: Double
  ) -> Box {
    let stride = kind == .gaussian ? 2 : 1
    let shift = (scale - 1) / 2
    func middle(_ value: Double) -> Double {
      scale * (isLogistic ? value : LinkFunction.logistic(value)) - shift
    }
    func extent(_ value: Double) -> Double { isLogistic ? 4 * value * value : exp(value) }
    return Box(
      centerX: (cell.column + middle(cell[0])) / cell.columns,
      centerY: (cell.row + middle(cell[stride])) / cell.rows,
      width: extent(cell[2 * stride]) * anchor.width / (kind == .region ? cell.columns : width),
      height: extent(cell[3 * stride]) * anchor.height / (kind == .region ? cell.rows : height))
  }

  /// The classes whose score is above `threshold`.
  private func scores(_ cell: Cell, threshold: Double) -> [(label: Int, score: Double)] {
    func probability(_ value: Double) -> Double {
      isLogistic ? value : LinkFunction.logistic(value)
    }
    let confidenceAt = kind == .gaussian ? 8 : coordinates
    var factor = hasBackground ? 1 : probability(cell[confidenceAt])
    if kind == .gaussian {
      factor *= 1 - (0..<4).reduce(0) { $0 + probability(cell[2 * $1 + 1]) } / 4
    }
    guard classes > 0 else { return factor > threshold ? [(0, factor)] : [] }
    // A class probability is at most 1.
    guard factor > threshold else { return [] }
    let first = confidenceAt + 1
    let isSoftmax = kind == .region && isSoftmax
    var (greatest, sum) = (-Double.infinity, 0.0)
    if isSoftmax {
      let terms = (hasBackground ? first - 1 : first)..<first + classes
      for number in terms { greatest = max(greatest, cell[number]) }
      for number in terms { sum += exp(cell[number] - greatest) }
    }
    var found: [(label: Int, score: Double)] = []
    for label in 0..<classes {
      let value = cell[first + label]
      let score = factor * (isSoftmax ? exp(value - greatest) / sum : probability(value))
      if score > threshold { found.append((label, score)) }
    }
    return found
  }
}
