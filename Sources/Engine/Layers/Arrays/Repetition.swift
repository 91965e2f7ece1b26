import CoreMLModel
import TensorCore

/// A layer that repeats its first input along axes of length 1.
protocol BroadcastLayer: EngineLayer {}

extension BroadcastLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let input = layer.inputShapes[0]
    if input == shape { return [layer.inputs[0]] }
    let operation = StridedCopyOperation.merged(
      "repeat", sizes: shape.dimensions,
      strides: ArrayStrides.broadcast(input.dimensions, to: shape.dimensions))
    return [layer.add(operation, [layer.inputs[0]], shape)]
  }
}

extension BroadcastToStatic: BroadcastLayer {}
extension BroadcastToLike: BroadcastLayer {}

extension Tile: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let input = layer.inputShapes[0].dimensions
    let counts = try repetitions(rank: input.count)
    let steps = Tensor.strides(input)
    let operation = StridedCopyOperation.merged(
      "tile", sizes: input.indices.flatMap { [counts[$0], input[$0]] },
      strides: steps.flatMap { [0, $0] })
    return operation.keepsOrder ? layer.inputs : [layer.add(operation, layer.inputs, shape)]
  }
}

extension ConstantPad: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let input = layer.inputShapes[0]
    if input == shape { return layer.inputs }
    let sizes = input.dimensions
    let borders = try amounts(sizes)
    let rank = sizes.count
    if (3...5).contains(rank), borders.dropLast(2).allSatisfy({ $0 == (0, 0) }) {
      return [layer.add(padding(borders, input), layer.inputs, shape)]
    }
    let length = sizes[rank - 1]
    let outer = Array(sizes.dropLast())
    let result = shape.dimensions
    let rows = outer.reduce(1, *)
    let count = shape.count
    let fill = value
    // A single unit, because rows of the input alternate with runs of the value.
    let operation = ArrayOperation(kind: "pad", units: 1) { buffers, _ in
      buffers.output.update(repeating: fill, count: count)
      for row in 0..<rows {
        var rest = row
        var offset = borders[rank - 1].before
        var step = result[rank - 1]
        for axis in outer.indices.reversed() {
          offset += (rest % outer[axis] + borders[axis].before) * step
          rest /= outer[axis]
          step *= result[axis]
        }
        (buffers.output + offset).update(from: buffers.input + row * length, count: length)
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }

  /// Pads only H and W, in the layout of planes; a convolution can absorb a border of zeros.
  private func padding(
    _ borders: [(before: Int, after: Int)], _ input: Shape
  ) -> PlaneGatherOperation {
    func positions(_ axis: Int, _ size: Int) -> [Int] {
      let border = borders[borders.count - 2 + axis]
      return [Int](repeating: -1, count: border.before) + Array(0..<size)
        + [Int](repeating: -1, count: border.after)
    }
    var operation = PlaneGatherOperation(
      kind: "pad", rows: positions(0, input.height), columns: positions(1, input.width), fill: value
    )
    if value == 0 {
      operation.border = (
        top: borders[borders.count - 2].before, left: borders[borders.count - 1].before
      )
    }
    return operation
  }
}
