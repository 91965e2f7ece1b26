import CoreMLModel
import Kernels
import TensorCore

extension BatchedMatMul: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    return [
      try layer.inputs.count == 1 ? withWeights(&layer, shape) : ofBoth(&layer, shape)
    ]
  }

  private func withWeights(
    _ layer: inout LayerLowering, _ shape: Shape
  ) throws -> Graph.ValueID {
    let (depth, columns) = (weightMatrixFirstDimension, weightMatrixSecondDimension)
    let offsets = hasBias ? try layer.values(bias, [columns], "bias").array() : nil
    let rows = shape.count / columns
    let value = int8DynamicQuantize ? layer.rounded(layer.inputs[0]) : layer.inputs[0]
    let input = try layer.view(value, try Shape([rows, depth]))
    let result = try Shape([rows, columns])
    // A few rows are products of vectors with the weights in place.
    if rows < 4 {
      let operation = DenseOperation(
        weights: try layer.stored(matrix, [columns, depth], "weights"), bias: offsets)
      return try layer.view(layer.add(operation, [input], result), shape)
    }
    let stored = try layer.values(matrix, [columns, depth], "weights").array()
    var rowMajor = [Float](repeating: 0, count: stored.count)
    for column in 0..<columns {
      for row in 0..<depth { rowMajor[row * columns + column] = stored[column * depth + row] }
    }
    let b = try layer.constant(rowMajor, try Shape([depth, columns]))
    let product = layer.product(
      input, b, rows: rows, depth: depth, columns: columns, batches: [(0, 0)],
      columnBias: try offsets.map { try Constant($0) }, result)
    return try layer.view(product, shape)
  }

  private func ofBoth(_ layer: inout LayerLowering, _ shape: Shape) throws -> Graph.ValueID {
    let sizes = try matrixSizes(layer.inputShapes.map(\.dimensions))
    func swapped(_ value: Graph.ValueID, _ isTransposed: Bool) throws -> Graph.ValueID {
      let rank = layer.graph.shape(value).rank
      guard isTransposed, rank > 1 else { return value }
      return try layer.transposed(value, Array(0..<rank - 2) + [rank - 1, rank - 2])
    }
    let a = try swapped(layer.inputs[0], transposeA)
    let b = try swapped(layer.inputs[1], transposeB)
    let batch = try ArrayShape.broadcast([sizes.firstBatch, sizes.secondBatch])
    let count = batch.reduce(1, *)
    let aSteps = ArrayStrides.stretched(sizes.firstBatch, to: batch)
    let bSteps = ArrayStrides.stretched(sizes.secondBatch, to: batch)
    let batches = (0..<count).map { index in
      var rest = index
      var place = (a: 0, b: 0)
      for axis in batch.indices.reversed() {
        place.a += rest % batch[axis] * aSteps[axis]
        place.b += rest % batch[axis] * bSteps[axis]
        rest /= batch[axis]
      }
      return place
    }
    return layer.product(
      a, b, rows: sizes.rows, depth: sizes.depth, columns: sizes.columns, batches: batches,
      columnBias: nil, shape)
  }
}

extension LayerLowering {
  /// Products of row-major matrices: `batches` gives the pair of matrices from `a` and `b` for
  /// each.
  fileprivate mutating func product(
    _ a: Graph.ValueID, _ b: Graph.ValueID, rows: Int, depth: Int, columns: Int,
    batches: [(a: Int, b: Int)], columnBias: Constant?, _ shape: Shape
  ) -> Graph.ValueID {
    // Strips of rows, so that threads can share even a few matrices.
    let strip = batches.count >= 16 ? rows : min(rows, 48)
    let strips = (rows + strip - 1) / strip
    let operation = ArrayOperation(
      kind: "matrix product", units: batches.count * strips, sumsProducts: true
    ) { buffers, unit in
      let matrix = unit / strips
      let first = unit % strips * strip
      buffers.kernels.matrixProduct(
        MatrixProductArguments(
          a: buffers.inputs[0] + (batches[matrix].a * rows + first) * depth, aStride: depth,
          b: buffers.inputs[1] + batches[matrix].b * depth * columns, bStride: columns,
          c: buffers.output + (matrix * rows + first) * columns, cStride: columns,
          rows: min(strip, rows - first), columns: columns, depth: depth,
          columnBias: columnBias?.pointer))
    }
    return add(operation, [a, b], shape)
  }
}
