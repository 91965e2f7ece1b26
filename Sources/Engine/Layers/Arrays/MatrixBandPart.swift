import CoreMLModel
import TensorCore

extension LayerLowering {
  /// The elements of each matrix for which `lower` ≤ column − row ≤ `upper`.
  fileprivate mutating func band(_ lower: Int, _ upper: Int) throws -> [Graph.ValueID] {
    let shape = try outputShape()
    let columns = shape.dimensions[shape.rank - 1]
    let rows = shape.dimensions[shape.rank - 2]
    let operation = ArrayOperation(kind: "band", units: shape.count / columns) { buffers, unit in
      let row = unit % rows
      let first = min(max(lower + row, 0), columns)
      let last = min(max(upper + row + 1, 0), columns)
      let source = buffers.input + unit * columns
      let target = buffers.output + unit * columns
      target.update(repeating: 0, count: columns)
      if first < last {
        (target + first).update(from: source + first, count: last - first)
      }
    }
    return [add(operation, inputs, shape)]
  }
}

extension MatrixBandPart: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let far = 1 << 40
    return try layer.band(
      numLower < 0 ? -far : -min(numLower, far), numUpper < 0 ? far : min(numUpper, far))
  }
}

extension LowerTriangular: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let far = 1 << 40
    return try layer.band(-far, min(max(k, -far), far))
  }
}

extension UpperTriangular: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let far = 1 << 40
    return try layer.band(min(max(k, -far), far), far)
  }
}
