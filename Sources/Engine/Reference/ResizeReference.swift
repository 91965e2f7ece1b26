import CoreMLModel
import TensorCore

extension Upsample: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let rows = grid(input: input.height, output: shape[3])
    let columns = grid(input: input.width, output: shape[4])
    return [
      ReferenceTensor(shape: shape) { p in
        input.interpolated(p.sequence, p.batch, p.channel, rows[p.y], columns[p.x])
      }
    ]
  }

  /// Where each output lies between the inputs of an axis: the formulas of `LinearUpsampleMode` in
  /// the specification, of which `default` is i · in/out; nearest is ⌊i · in/out⌋.
  private func grid(input: Int, output: Int) -> [Double] {
    let ratio = Double(input) / Double(output)
    let last = Double(input - 1)
    return (0..<output).map { index in
      let i = Double(index)
      let point =
        switch (mode, linearUpsampleMode) {
        // In whole numbers, so that no rounding moves a pixel.
        case (.nearest, _): Double(index * input / output)
        case (.bilinear, .default): i * ratio
        case (.bilinear, .alignCornersTrue): output == 1 ? 0 : i * last / Double(output - 1)
        case (.bilinear, .alignCornersFalse): i * ratio + 0.5 * ratio - 0.5
        }
      return min(last, max(0, point))
    }
  }
}

extension ResizeBilinear: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let method = effectiveMode
    let rows = method.grid(from: 0, to: Double(input.height - 1), count: shape[3])
    let columns = method.grid(from: 0, to: Double(input.width - 1), count: shape[4])
    return [
      ReferenceTensor(shape: shape) { p in
        input.interpolated(p.sequence, p.batch, p.channel, rows[p.y], columns[p.x])
      }
    ]
  }
}

extension CropResize: ReferenceLayer {
  /// Boxes `[N, 1, 4, 1, 1]` are taken out of every image of the batch, boxes `[N, 1, 5, 1, 1]` out
  /// of the one that their first element names. Normalised coordinates count (size − 1) · spatialScale,
  /// and a scale of 0, that is none, is 1.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let (image, boxes) = (inputs[0], inputs[1])
    let method = effectiveMode
    let names = boxes.channels == 5
    var items: [Int] = []
    var grids: [(rows: [Double], columns: [Double])] = []
    for box in 0..<boxes.sequence {
      let item = names ? boxes[box, 0, 0, 0, 0] : 0
      guard item > -1, item < Double(image.batch) else {
        throw ModelError(.mismatch, "box \(box) names image \(item) of \(image.batch)")
      }
      items.append(Int(item))
      let corners = try corners(of: box, boxes, image)
      grids.append(
        (
          method.grid(from: corners.top, to: corners.bottom, count: shape[3]),
          method.grid(from: corners.left, to: corners.right, count: shape[4])
        ))
    }
    return [
      ReferenceTensor(shape: shape) { p in
        image.interpolated(
          0, names ? items[p.sequence] : p.batch, p.channel, grids[p.sequence].rows[p.y],
          grids[p.sequence].columns[p.x])
      }
    ]
  }

  private func corners(
    of box: Int, _ boxes: ReferenceTensor, _ image: ReferenceTensor
  ) throws -> (top: Double, left: Double, bottom: Double, right: Double) {
    let c = (boxes.channels - 4..<boxes.channels).map { boxes[box, 0, $0, 0, 0] }
    guard c.allSatisfy(\.isFinite) else {
      throw ModelError(.mismatch, "box \(box) has a coordinate that is not a finite number")
    }
    let scale = Double(effectiveSpatialScale)
    let y = scale * (normalizedCoordinates ? Double(image.height - 1) : 1)
    let x = scale * (normalizedCoordinates ? Double(image.width - 1) : 1)
    return switch effectiveBoxMode {
    case .cornersHeightFirst: (y * c[0], x * c[1], y * c[2], x * c[3])
    case .cornersWidthFirst: (y * c[1], x * c[0], y * c[3], x * c[2])
    case .centerSizeHeightFirst:
      (y * (c[0] - c[2] / 2), x * (c[1] - c[3] / 2), y * (c[0] + c[2] / 2), x * (c[1] + c[3] / 2))
    case .centerSizeWidthFirst:
      (y * (c[1] - c[3] / 2), x * (c[0] - c[2] / 2), y * (c[1] + c[3] / 2), x * (c[0] + c[2] / 2))
    }
  }
}

extension SamplingMethod {
  /// `count` points of the interval from `start` to `end`: the formulas of the specification's
  /// `SamplingMode`, whose interval [0, X − 1] is moved to `start`.
  func grid(from start: Double, to end: Double, count: Int) -> [Double] {
    let extent = end - start
    let n = Double(count)
    return (0..<count).map { index in
      let i = Double(index)
      let point =
        switch self {
        case .strictAlignEndpoints: count == 1 ? 0 : i * extent / (n - 1)
        case .alignEndpoints: count == 1 ? extent / 2 : i * extent / (n - 1)
        case .upsample: i * (extent + 1) / n
        case .roiAlign: (i + 0.5) * max(1, extent) / n
        }
      return start + min(extent, point)
    }
  }
}

extension ReferenceTensor {
  /// Bilinear interpolation at fractional `y` and `x`, which are held inside of the plane.
  func interpolated(_ s: Int, _ b: Int, _ c: Int, _ y: Double, _ x: Double) -> Double {
    let y = min(max(y, 0), Double(height - 1))
    let x = min(max(x, 0), Double(width - 1))
    let (top, left) = (Int(y), Int(x))
    let (bottom, right) = (min(top + 1, height - 1), min(left + 1, width - 1))
    let (fractionY, fractionX) = (y - Double(top), x - Double(left))
    let upper =
      self[s, b, c, top, left] * (1 - fractionX) + self[s, b, c, top, right] * fractionX
    let lower =
      self[s, b, c, bottom, left] * (1 - fractionX) + self[s, b, c, bottom, right] * fractionX
    return upper * (1 - fractionY) + lower * fractionY
  }
}
