import CoreMLModel
import Kernels
import TensorCore

/// A range of channels.
struct ChannelRangeOperation: NodeOperation {
  var start: Int

  var kind: String { "channels from \(start)" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    // Whole blocks can be copied unchanged, whatever the block size.
    start % 16 == 0 ? shapes.followingFirstInput() : shapes.allDense()
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let first = start / from.block
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.parallel(to.planes, writing: output) { plane in
        let image = plane / to.channelBlocks
        let block = plane % to.channelBlocks + first
        to.copyPlane(
          from: source + from.planeOffset(image * from.channelBlocks + block), from,
          to: target + to.planeOffset(plane))
        to.clearEmptyLanes(ofPlane: plane, in: target)
      }
    }
  }
}

extension BlobLayout {
  /// Copies the rows of one plane from another blob with the same width, height and block.
  func copyPlane(
    from source: UnsafePointer<Float>, _ sourceLayout: BlobLayout,
    to target: UnsafeMutablePointer<Float>
  ) {
    let width = shape.width * block
    if hasContiguousPlanes, sourceLayout.hasContiguousPlanes {
      target.update(from: source, count: width * shape.height)
      return
    }
    for row in 0..<shape.height {
      (target + row * rowStride).update(from: source + row * sourceLayout.rowStride, count: width)
    }
  }
}

extension Slice: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    [try layer.onPlanes { layer, value, output in try lower(&layer, value, output) }]
  }

  private func lower(
    _ layer: inout LayerLowering, _ value: Graph.ValueID, _ output: Shape
  ) throws -> Graph.ValueID {
    let input = layer.graph.shape(value)
    let sizes = [input.channels, input.height, input.width]
    let counts = [output.channels, output.height, output.width]
    let size = sizes[axis.rawValue]
    let count = counts[axis.rawValue]
    let start = startIndex < 0 ? startIndex + size : startIndex
    let step = count > 1 ? max(stride, 1) : 1
    let last = (count - 1).multipliedReportingOverflow(by: step)
    try require(
      start >= 0 && start < size && !last.overflow && last.partialValue < size - start,
      "\(count) elements from \(startIndex) in steps of \(step), of \(size)", field: "startIndex")
    if output == input { return value }
    let picked = (0..<count).map { start + $0 * step }
    let operation: any NodeOperation
    switch axis {
    case .channel:
      if step == 1 { return layer.add(ChannelRangeOperation(start: start), [value], output) }
      operation = StridedCopyOperation(
        kind: "slice", sizes: [input.images, count, input.area],
        strides: [input.itemCount, step * input.area, 1], offset: start * input.area)
    case .height:
      operation = PlaneGatherOperation(kind: "slice", rows: picked, columns: Array(0..<input.width))
    case .width:
      operation = PlaneGatherOperation(
        kind: "slice", rows: Array(0..<input.height), columns: picked)
    }
    return layer.add(operation, [value], output)
  }
}

extension Split: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let shapes = try layer.outputShapes()
    try require(
      shapes.reduce(0) { $0 + $1.channels } == input.channels,
      "\(shapes.count) parts of \(input.channels) channels", field: "nOutputs")
    var start = 0
    var outputs: [Graph.ValueID] = []
    for shape in shapes {
      outputs.append(layer.add(ChannelRangeOperation(start: start), layer.inputs, shape))
      start += shape.channels
    }
    return outputs
  }
}
