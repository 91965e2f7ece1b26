import CoreMLModel

/// A layer that keeps a band of each matrix.
protocol BandLowering: EngineLayer, MatrixBandLayer {}

extension BandLowering {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let columns = shape.dimensions[shape.rank - 1]
    let rows = shape.dimensions[shape.rank - 2]
    let far = 1 << 40
    let lowest = min(max(diagonals.lowest ?? -far, -far), far)
    let highest = min(max(diagonals.highest ?? far, -far), far)
    let operation = ArrayOperation(kind: "band", units: shape.count / columns) { buffers, unit in
      let row = unit % rows
      let first = min(max(lowest + row, 0), columns)
      let last = min(max(highest + row + 1, 0), columns)
      let source = buffers.input + unit * columns
      let target = buffers.output + unit * columns
      target.update(repeating: 0, count: columns)
      if first < last { (target + first).update(from: source + first, count: last - first) }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension MatrixBandPart: BandLowering {}
extension LowerTriangular: BandLowering {}
extension UpperTriangular: BandLowering {}
