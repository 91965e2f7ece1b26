import TensorCore

/// The boxes to which SSD's offsets refer.
package struct PriorBoxes: Sendable, Equatable {
  /// The boxes in fractions of the image.
  package var boxes: [Box]
  /// The factors of the offsets of x, y, w and h: one set per box, or one for all.
  package var variances: [[Double]]
  package var coding = Coding.center

  /// The meaning of a box's four values.
  package enum Coding: Sendable {
    /// Offsets of the center, and logarithms of the size's factors: Caffe's CENTER_SIZE.
    case center
    /// Offsets of left, top, right and bottom, relative to the prior box's size.
    case corners
    /// Left, top, right and bottom themselves, multiplied by the variances.
    case sides
  }

  package static let usualVariances = [0.1, 0.1, 0.2, 0.2]

  package init(boxes: [Box], variances: [[Double]] = [usualVariances]) {
    self.boxes = boxes
    self.variances = variances
  }

  /// Reads the output of Caffe's PriorBox layers, `[1, 2, 4 · boxes]`: xmin, ymin, xmax, ymax of
  /// each box in fractions of the image, followed by as many variances.
  init(caffe output: Tensor) throws {
    let count = output.count / 8
    guard output.count > 0, output.count % 8 == 0 else {
      throw ModelError(
        .mismatch, "boxes of shape \(output.shape); PriorBox returns [1, 2, 4 · boxes]")
    }
    let values = output.elements.map(Double.init)
    boxes = (0..<count).map { index in
      Box(
        left: values[4 * index], top: values[4 * index + 1], right: values[4 * index + 2],
        bottom: values[4 * index + 3])
    }
    variances = (count..<2 * count).map { Array(values[4 * $0..<4 * $0 + 4]) }
  }

  /// Boxes from a description, `GRID: SIZES; GRID: SIZES; …`, in the order of the outputs.
  ///
  /// GRID is `40x30`, columns and rows, with centers at (i + ½)/columns and (j + ½)/rows, or
  /// `40x30/8`, with centers every 8 pixels of the model's image. SIZES are widths and heights in
  /// pixels, `10x10, 16x16`. Boxes are ordered by row and column; those of a cell are adjacent. As
  /// in the networks for which this notation is used, no box is larger than the image.
  ///
  /// - Parameters: `width` and `height` of the model's image.
  package init(description: String, width: Int, height: Int) throws {
    boxes = []
    variances = [Self.usualVariances]
    let (wide, high) = (Double(width), Double(height))
    for grid in description.split(separator: ";") {
      let parts = grid.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw Self.fault(String(grid)) }
      let head = parts[0].split(separator: "/", omittingEmptySubsequences: false)
      let positions = try Self.pair(head[0])
      let (columns, rows) = (Int(positions.0), Int(positions.1))
      var step: (Double, Double) = (wide / positions.0, high / positions.1)
      if head.count > 1 {
        guard head.count == 2, let both = Double(head[1].trimmed), both > 0, both.isFinite else {
          throw Self.fault(String(grid))
        }
        step = (both, both)
      }
      let sizes = try parts[1].split(separator: ",").map { try Self.pair($0) }
      let count = try checkedProduct([columns, rows, sizes.count], limit: Self.most)
      guard count > 0, boxes.count + count <= Self.most else { throw Self.fault(String(grid)) }
      for row in 0..<rows {
        for column in 0..<columns {
          for size in sizes {
            boxes.append(
              Box(
                centerX: min(1, (Double(column) + 0.5) * step.0 / wide),
                centerY: min(1, (Double(row) + 0.5) * step.1 / high),
                width: min(1, size.0 / wide), height: min(1, size.1 / high)))
          }
        }
      }
    }
    guard !boxes.isEmpty else { throw Self.fault(description) }
  }

  /// The anchors of keras-retinanet: nine per position on pyramid levels 3 to 7.
  init(pyramidOf width: Int, height: Int) {
    self.init(boxes: [])
    for level in 3...7 {
      let step = 1 << level
      for row in 0..<(height + step - 1) / step {
        for column in 0..<(width + step - 1) / step {
          for ratio in [0.5, 1, 2] {
            for third in 0..<3 {
              let side = Double(4 * step) * exponential(Double(third) / 3 * 0.693147180559945)
              let wide = side / ratio.squareRoot()
              boxes.append(
                Box(
                  centerX: (Double(column) + 0.5) * Double(step) / Double(width),
                  centerY: (Double(row) + 0.5) * Double(step) / Double(height),
                  width: wide / Double(width), height: wide * ratio / Double(height)))
            }
          }
        }
      }
    }
  }

  private static let most = 1 << 20

  private static func pair(_ text: Substring) throws -> (Double, Double) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
      .map { Double($0.trimmed) }
    guard sides.count == 2, let first = sides[0], let second = sides[1], first > 0, second > 0,
      first <= 1e6, second <= 1e6
    else { throw fault(String(text)) }
    return (first, second)
  }

  private static func fault(_ text: String) -> ModelError {
    ModelError(
      .mismatch, "prior boxes: '\(text)'",
      hint:
        "write columns x rows, a colon, and widths x heights: 40x30/8: 10x10, 16x16; 20x15/16: 32x32"
    )
  }

  /// The box from offsets (tx, ty, tw, th) by Caffe's CENTER_SIZE, for variances v and prior box p:
  ///
  ///     x = px + v₁·tx·pw    w = pw·exp(v₃·tw)
  ///     y = py + v₂·ty·ph    h = ph·exp(v₄·th)
  ///
  /// (x, y) is the center.
  func box(_ index: Int, offsets: (Double, Double, Double, Double)) -> Box {
    let prior = boxes[index]
    let factors = variances.count == 1 ? variances[0] : variances[index]
    if coding != .center {
      let (wide, high) = (factors[0] * prior.width, factors[1] * prior.height)
      let start = coding == .sides ? Box(left: 0, top: 0, right: 0, bottom: 0) : prior
      return Box(
        left: start.left + wide * offsets.0, top: start.top + high * offsets.1,
        right: start.right + factors[2] * prior.width * offsets.2,
        bottom: start.bottom + factors[3] * prior.height * offsets.3)
    }
    return Box(
      centerX: (prior.left + prior.right) / 2 + factors[0] * offsets.0 * prior.width,
      centerY: (prior.top + prior.bottom) / 2 + factors[1] * offsets.1 * prior.height,
      width: prior.width * exponential(factors[2] * offsets.2),
      height: prior.height * exponential(factors[3] * offsets.3))
  }
}

extension Substring {
  var trimmed: Substring {
    var text = self
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return text
  }
}
