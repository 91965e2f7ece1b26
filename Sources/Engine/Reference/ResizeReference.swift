import CoreMLModel
import TensorCore

extension Upsample: ReferenceFormula {
  /// The formulas of `LinearUpsampleMode` in the specification; `nearest` repeats each element.
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    if mode == .nearest {
      // Output i reads the input j for which j · out ≤ i · in < (j + 1) · out.
      func source(_ i: Int, _ size: Int, _ count: Int) -> Int {
        (0..<size).first { ($0 + 1) * count > i * size } ?? 0
      }
      return try planeOutput(inputs) { p in
        input[
          p.sequence, p.batch, p.channel, source(p.y, input.height, shape[3]),
          source(p.x, input.width, shape[4])]
      }
    }
    func grid(_ size: Int, _ count: Int) -> [Double] {
      let (xIn, xOut) = (Double(size), Double(count))
      let (start, spacing) =
        switch linearUpsampleMode {
        case .default: (0.0, count == 1 ? 0 : (xIn - xIn / xOut) / (xOut - 1))
        case .alignCornersTrue: (0.0, count == 1 ? 0 : (xIn - 1) / (xOut - 1))
        case .alignCornersFalse: (0.5 * xIn / xOut - 0.5, xIn / xOut)
        }
      return (0..<count).map { start + Double($0) * spacing }
    }
    let samples = BilinearSamples(
      grid(input.height, shape[3]), grid(input.width, shape[4]), of: input)
    return try planeOutput(inputs) { p in samples[input, p.sequence, p.batch, p] }
  }
}

extension ResizeBilinear: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let samples = BilinearSamples(
      effectiveMode.gridPoints(x: Double(input.height), n: shape[3]),
      effectiveMode.gridPoints(x: Double(input.width), n: shape[4]), of: input)
    return try planeOutput(inputs) { p in samples[input, p.sequence, p.batch, p] }
  }
}

extension CropResize: ReferenceFormula {
  /// Boxes `[N, 1, 4, 1, 1]` are cut from every image of the batch; for boxes `[N, 1, 5, 1, 1]`,
  /// the first element selects the image. A missing spatial scale, stored as 0, means 1.
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let (image, boxes) = (inputs[0], inputs[1])
    let rows = (0..<boxes.sequence).map { Array(boxes.item($0)) }
    for (box, row) in rows.enumerated() {
      try require(
        row.suffix(4).allSatisfy(\.isFinite), .mismatch,
        "box \(box) has a coordinate that is not a finite number")
      try require(
        row.count == 4 || row[0] > -1 && row[0] < Double(image.batch), .mismatch,
        "box \(box) names image \(row[0]) of \(image.batch)")
    }
    let samples = rows.map { row in
      let box = Array(row.suffix(4))
      return BilinearSamples(
        grid(box, isWidth: false, image.height, shape[3]),
        grid(box, isWidth: true, image.width, shape[4]), of: image)
    }
    return try planeOutput(inputs) { p in
      let row = rows[p.sequence]
      return samples[p.sequence][image, 0, row.count == 5 ? Int(row[0]) : p.batch, p]
    }
  }

  /// Points along H or W. `boxMode` sets which coordinate comes first, and whether a pair is start
  /// and end or center and size; normalized coordinates are multiplied by `size` − 1.
  private func grid(_ box: [Double], isWidth: Bool, _ size: Int, _ count: Int) -> [Double] {
    let isWidthFirst = [.cornersWidthFirst, .centerSizeWidthFirst].contains(effectiveBoxMode)
    let isCentered = [.centerSizeHeightFirst, .centerSizeWidthFirst].contains(effectiveBoxMode)
    let position = isWidth == isWidthFirst ? 0 : 1
    let unit = Double(effectiveSpatialScale) * (normalizedCoordinates ? Double(size - 1) : 1)
    let (first, second) = (box[position] * unit, box[position + 2] * unit)
    let (start, extent) = isCentered ? (first - second / 2, second) : (first, second - first)
    return effectiveMode.gridPoints(x: extent + 1, n: count).map { start + $0 }
  }
}

extension SamplingMethod {
  /// `n` points of the interval [0, x − 1], as in the specification.
  fileprivate func gridPoints(x: Double, n: Int) -> [Double] {
    let count = Double(n)
    let points: [Double]
    switch self {
    case .strictAlignEndpoints: points = linspace(0, x - 1, n)
    case .alignEndpoints:
      points = n == 1 ? linspace((x - 1) / 2, (x - 1) / 2, n) : linspace(0, x - 1, n)
    case .upsample: points = linspace(0, x - x / count, n)
    case .roiAlign:
      let spacing = max(1, x - 1) / count
      points = linspace(0.5 * spacing, 0.5 * spacing + (count - 1) * spacing, n)
    }
    // x is less than 1 for a box that ends before it starts; its points run backward.
    return points.map { min(max($0, min(x - 1, 0)), max(x - 1, 0)) }
  }
}

/// `numpy.linspace`: `n` points from `start` to `end`, including both.
private func linspace(_ start: Double, _ end: Double, _ n: Int) -> [Double] {
  n == 1 ? [start] : (0..<n).map { start + Double($0) / Double(n - 1) * (end - start) }
}

/// Bilinear interpolation at the points of two grids, clamped to the plane: element i of an axis
/// has the weight max(0, 1 − |point − i|).
private struct BilinearSamples {
  private let rows: [[(index: Int, weight: Double)]]
  private let columns: [[(index: Int, weight: Double)]]

  init(_ rows: [Double], _ columns: [Double], of image: ReferenceTensor) {
    func weights(_ points: [Double], _ size: Int) -> [[(index: Int, weight: Double)]] {
      points.map { point in
        let held = min(max(point, 0), Double(size - 1))
        return (0..<size).map { (index: $0, weight: 1 - abs(held - Double($0))) }
          .filter { $0.weight > 0 }
      }
    }
    self.rows = weights(rows, image.height)
    self.columns = weights(columns, image.width)
  }

  subscript(
    image: ReferenceTensor, sequence: Int, batch: Int, p: ReferenceTensor.Position
  ) -> Double {
    rows[p.y].reduce(0) { sum, row in
      columns[p.x].reduce(sum) { sum, column in
        sum + row.weight * column.weight
          * image[sequence, batch, p.channel, row.index, column.index]
      }
    }
  }
}
