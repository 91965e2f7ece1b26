import CoreMLModel
import Kernels
import TensorCore

extension SoftmaxND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let axis = try ArrayShape.axis(axis, rank: shape.rank)
    let last = shape.rank - 1
    if axis == shape.channelAxis, shape.rank < 6 {
      return [layer.add(SoftmaxOperation(), layer.inputs, shape)]
    }
    if axis == last { return [layer.softmaxRows(layer.inputs[0])] }
    var order = Array(0...last)
    order.swapAt(axis, last)
    let rows = layer.softmaxRows(try layer.transposed(layer.inputs[0], order))
    return [try layer.transposed(rows, order)]
  }
}

extension LayerLowering {
  /// The softmax along the last axis.
  mutating func softmaxRows(_ value: Graph.ValueID) -> Graph.ValueID {
    let shape = graph.shape(value)
    let length = shape.dimensions.last ?? 1
    let operation = ArrayOperation(kind: "softmax", units: shape.count / length) { buffers, row in
      buffers.kernels.softmax(
        buffers.input + row * length, to: buffers.output + row * length, count: length)
    }
    return add(operation, [value], shape)
  }
}
