import CoreMLModel
import TensorCore

extension BatchedMatMul: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    return [try layer.inputs.count == 1 ? withWeights(&layer, shape) : ofBoth(&layer, shape)]
  }

  private func withWeights(_ layer: inout LayerLowering, _ shape: Shape) throws -> Graph.ValueID {
    let (depth, columns) = (weightMatrixFirstDimension, weightMatrixSecondDimension)
    let offsets = hasBias ? try layer.values(bias, [columns], "bias").array() : nil
    let rows = shape.count / columns
    let value = int8DynamicQuantize ? layer.rounded(layer.inputs[0]) : layer.inputs[0]
    let stored = try layer.stored(matrix, [columns, depth], "weights")
    if LinearOperation.pays(rows: rows) {
      let operation = LinearOperation(stored, inputs: depth, outputs: columns, bias: offsets)
      return layer.add(operation, [value], shape)
    }
    let input = try layer.view(value, try Shape([rows, depth]))
    let operation = DenseOperation(weights: stored, bias: offsets)
    return try layer.view(layer.add(operation, [input], try Shape([rows, columns])), shape)
  }

  private func ofBoth(_ layer: inout LayerLowering, _ shape: Shape) throws -> Graph.ValueID {
    let sizes = try matrixSizes(layer.inputShapes.map(\.dimensions))
    var a = layer.inputs[0]
    if transposeA, layer.inputShapes[0].rank > 1 {
      let rank = layer.inputShapes[0].rank
      a = try layer.transposed(a, Array(0..<rank - 2) + [rank - 1, rank - 2])
    }
    let batch = try ArrayShape.broadcast([sizes.firstBatch, sizes.secondBatch])
    let isTransposed = transposeB && layer.inputShapes[1].rank > 1
    let right = MatrixWalk(
      sizes.secondBatch, broadcastTo: batch, rows: isTransposed ? sizes.columns : sizes.depth,
      columns: isTransposed ? sizes.depth : sizes.columns)
    let operation = MatrixProductOperation(
      batch: batch, rows: sizes.rows, depth: sizes.depth, columns: sizes.columns,
      a: MatrixWalk(sizes.firstBatch, broadcastTo: batch, rows: sizes.rows, columns: sizes.depth),
      b: isTransposed ? right.transposed : right,
      output: MatrixWalk(rowMajor: batch, rows: sizes.rows, columns: sizes.columns))
    return layer.add(operation, [a, layer.inputs[1]], shape)
  }
}
