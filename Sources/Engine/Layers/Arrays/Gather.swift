import CoreMLModel
import TensorCore

extension Float {
  /// The position in 0 ..< length for this number: negative numbers count from the end, and numbers
  /// out of range give the nearest position.
  func position(in length: Int) -> Int {
    guard isFinite, magnitude < 1e9 else { return self > 0 ? length - 1 : 0 }
    let whole = Int(rounded(.down))
    return min(max(whole < 0 ? whole + length : whole, 0), length - 1)
  }
}

extension Gather: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let walk = try AxisWalk(layer.inputShapes[0], axis)
    let count = layer.inputShapes[1].count
    let operation = ArrayOperation(kind: "gather", units: walk.outer) { buffers, unit in
      let source = buffers.inputs[0] + unit * walk.length * walk.inner
      let target = buffers.output + unit * count * walk.inner
      for index in 0..<count {
        let position = buffers.inputs[1][index].position(in: walk.length)
        (target + index * walk.inner).update(
          from: source + position * walk.inner, count: walk.inner)
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension GatherND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let input = layer.inputShapes[0].dimensions
    let depth = layer.inputShapes[1].dimensions.last ?? 1
    let inner = input[depth...].reduce(1, *)
    let count = layer.inputShapes[1].count / depth
    let operation = ArrayOperation(kind: "gather", units: count) { buffers, unit in
      var position = 0
      for axis in 0..<depth {
        position =
          position * input[axis] + buffers.inputs[1][unit * depth + axis].position(in: input[axis])
      }
      (buffers.output + unit * inner).update(
        from: buffers.inputs[0] + position * inner, count: inner)
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension GatherAlongAxis: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let walk = try AxisWalk(layer.inputShapes[0], axis)
    let count = try AxisWalk(shape, axis).length * walk.inner
    let operation = ArrayOperation(kind: "gather", units: shape.count / count) { buffers, unit in
      let source = buffers.inputs[0] + unit * walk.length * walk.inner
      let start = unit * count
      for index in 0..<count {
        let position = buffers.inputs[1][start + index].position(in: walk.length)
        buffers.output[start + index] = source[position * walk.inner + index % walk.inner]
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension EmbeddingND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let (size, count) = (embeddingSize, vocabSize)
    let words = try layer.values(matrix, [size, count], "weights").transposed([1, 0]).contiguous()
    let table = EmbeddingTable(
      FloatValues(bytes: words).shaped([count, size]).transposed([1, 0]),
      bias: hasBias ? try layer.values(bias, [size], "bias").array() : nil)
    let operation = ArrayOperation(kind: "embedding", units: shape.count / size) { buffers, unit in
      let word = buffers.input[unit].position(in: count)
      table.copy(word, to: buffers.output + unit * size)
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension OneHot: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let walk = try AxisWalk(shape, axis)
    let (on, off) = (onValue, offValue)
    let operation = ArrayOperation(kind: "one hot", units: walk.outer) { buffers, unit in
      let target = buffers.output + unit * walk.length * walk.inner
      target.update(repeating: off, count: walk.length * walk.inner)
      for index in 0..<walk.inner {
        let position = buffers.input[unit * walk.inner + index]
        guard position >= 0, position < Float(walk.length) else { continue }
        target[Int(position) * walk.inner + index] = on
      }
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}
