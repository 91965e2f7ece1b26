import CoreMLModel
import TensorCore

/// Concatenates row-major arrays: each of `count` rows of the output consists of one row of every
/// input.
struct JoinOperation: NodeOperation {
  var kind = "concat"
  var count: Int
  /// Elements in a row of each input.
  var lengths: [Int]

  var borrowableInputs: Int { .max }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let (inputs, output) = (context.inputs, context.outputs[0])
    let (count, lengths) = (count, lengths)
    let row = lengths.reduce(0, +)
    return { run in
      let sources = inputs.map { UnsafePointer(run.pointer($0)) }
      let target = run.pointer(output)
      run.pool.forEach(count) { index in
        var start = target + index * row
        for (source, length) in zip(sources, lengths) {
          start.update(from: source + index * length, count: length)
          start += length
        }
      }
    }
  }
}

extension Shape {
  /// The axis that is C in `[Seq, Batch, C, H, W]`.
  var channelAxis: Int { rank > 2 ? rank - 3 : rank - 1 }
}

extension LayerLowering {
  /// Concatenates row-major arrays along an axis.
  mutating func joined(_ values: [Graph.ValueID], axis: Int, _ shape: Shape) -> Graph.ValueID {
    if values.count == 1, graph.shape(values[0]) == shape { return values[0] }
    if axis == shape.channelAxis, shape.rank < 6, shape.area > 1 {
      return add(ConcatOperation(), values, shape)
    }
    let outer = shape.dimensions[..<axis].reduce(1, *)
    let lengths = values.map { graph.shape($0).count / outer }
    return add(JoinOperation(count: outer, lengths: lengths), values, shape)
  }
}

extension ConcatND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let axis = try ArrayShape.axis(axis, rank: shape.rank)
    guard interleave, layer.inputs.count > 1 else {
      return [layer.joined(layer.inputs, axis: axis, shape)]
    }
    // Stacks along a new axis after `axis`, then merges the two axes.
    var part = layer.inputShapes[0].dimensions
    part.insert(1, at: axis + 1)
    let parts = try layer.inputs.map { try layer.view($0, try Shape(part)) }
    part[axis + 1] = parts.count
    return [try layer.view(layer.joined(parts, axis: axis + 1, try Shape(part)), shape)]
  }
}

extension Stack: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let axis = try ArrayShape.axis(axis, rank: shape.rank)
    var part = shape.dimensions
    part[axis] = 1
    let parts = try layer.inputs.map { try layer.view($0, try Shape(part)) }
    return [layer.joined(parts, axis: axis, shape)]
  }
}

extension SplitND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let axis = try ArrayShape.axis(axis, rank: input.rank)
    let strides = Tensor.strides(input.dimensions)
    var start = 0
    return try layer.outputShapes().map { shape in
      defer { start += shape.dimensions[axis] }
      if shape == input { return layer.inputs[0] }
      if axis == input.channelAxis, input.rank < 6, input.area > 1 {
        return layer.add(ChannelRangeOperation(start: start), layer.inputs, shape)
      }
      let operation = StridedCopyOperation.merged(
        "split", sizes: shape.dimensions, strides: strides, offset: start * strides[axis])
      return layer.add(operation, layer.inputs, shape)
    }
  }
}
