import TensorCore

/// The outputs of YOLO v1 for side × side cells: the classes of every cell, the confidences of its
/// boxes, then x, y, w and h of each box.
///
/// For the cell in column i and row j, in fractions of the image: x = (i + tx) / side, y = (j + ty)
/// / side, w = tw, h = th, or their squares. The score of a class is the confidence times the
/// class's value, optionally after a softmax. Source: Darknet's `detection_layer.c`.
package struct SideDecoder: Sendable {
  package var side = 7
  package var classes = 1
  /// The number of boxes per cell.
  package var boxes = 1
  package var isSoftmax = false
  /// Whether w and h are square roots.
  package var isRoot = false

  /// All boxes and classes with a score above `threshold`.
  package func objects(in numbers: Tensor, threshold: Double) throws -> [DetectedObject] {
    let cells = try checkedProduct([side, side], limit: Limits.dimension)
    let count = try checkedProduct(
      [cells, checkedSum([classes, checkedProduct([5, boxes], limit: Limits.dimension)])],
      limit: Limits.tensorElements)
    try require(
      numbers.count == count, .mismatch,
      "it has \(numbers.count) numbers, but \(side) × \(side) cells need \(count)",
      hint: "side² · (classes + 5 · num)")
    let values = numbers.elements.map(Double.init)
    var objects: [DetectedObject] = []
    for cell in 0..<cells {
      let own = values[cell * classes..<(cell + 1) * classes]
      let shares = isSoftmax ? ScoreFunction.softmax.values(own) : Array(own)
      for box in cell * boxes..<(cell + 1) * boxes {
        let confidence = values[cells * classes + box]
        let at = cells * (classes + boxes) + 4 * box
        let (width, height) = (values[at + 2], values[at + 3])
        let position = Box(
          centerX: (values[at] + Double(cell % side)) / Double(side),
          centerY: (values[at + 1] + Double(cell / side)) / Double(side),
          width: isRoot ? width * width : width, height: isRoot ? height * height : height)
        guard position.isFinite else { continue }
        for (label, share) in shares.enumerated() where confidence * share > threshold {
          objects.append(
            DetectedObject(box: position, classIndex: label, score: confidence * share))
        }
      }
    }
    return objects
  }
}
