import CoreMLModel

extension ReverseSeq: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let sequence = try AxisWalk(layer.inputShapes[0], sequenceAxis)
    let batch = try AxisWalk(layer.inputShapes[0], batchAxis)
    // Adjacent sequences of one batch item.
    let run = batch.inner / (sequence.length * sequence.inner)
    let operation = ArrayOperation(kind: "reverse", units: sequence.outer) { buffers, unit in
      let count = buffers.inputs[1][unit / run % batch.length]
      let reversed = count > 0 ? Int(min(count, Float(sequence.length))) : 0
      let start = unit * sequence.length * sequence.inner
      for position in 0..<sequence.length {
        let source = position < reversed ? reversed - 1 - position : position
        (buffers.output + start + position * sequence.inner).update(
          from: buffers.input + start + source * sequence.inner, count: sequence.inner)
      }
    }
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}
