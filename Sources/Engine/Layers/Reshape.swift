import CoreMLModel
import Kernels
import TensorCore

/// The same row-major elements with another shape.
struct ViewOperation: NodeOperation {
  /// Whether both shapes are equal as `[Seq, Batch, C, H, W]`, so that any layout is valid.
  var keepsPlanes = false

  var kind: String { "view" }
  var isView: Bool { !keepsPlanes }
  var canRunInPlace: Bool { keepsPlanes }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    keepsPlanes ? shapes.followingFirstInput() : shapes.allDense()
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let (from, to) = (input.layout, output.layout)
    if keepsPlanes, !(from.isDense && to.isDense) {
      return context.planeStep { band in
        if band.source != UnsafePointer(band.target) {
          to.copyPlane(from: band.source, from, to: band.target)
        }
      }
    }
    let count = to.shape.count
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      if source != target { target.update(from: source, count: count) }
    }
  }
}

extension LayerLowering {
  /// The same elements with another shape.
  mutating func view(_ value: Graph.ValueID, _ shape: Shape) throws -> Graph.ValueID {
    let from = graph.shape(value)
    if from == shape { return value }
    try require(
      from.count == shape.count,
      "\(shape.dimensions) does not have as many elements as \(from.dimensions)", field: "input")
    return add(ViewOperation(keepsPlanes: try from.planes == shape.planes), [value], shape)
  }
}

extension LayerLowering {
  /// The elements of each batch item as one row, in the order of `[Seq, C, H, W]` or `[Seq, H, W,
  /// C]`.
  fileprivate mutating func unrolled(_ value: Graph.ValueID, channelLast: Bool) throws
    -> Graph.ValueID
  {
    let shape = graph.shape(value)
    let (b, c, h, w) = (shape.batch, shape.channels, shape.height, shape.width)
    let rows = try Shape([1, b, shape.sequence * shape.itemCount, 1, 1])
    let operation =
      channelLast
      ? StridedCopyOperation(
        kind: "to channels last", sizes: [b, shape.sequence, h, w, c],
        strides: [c * h * w, b * c * h * w, w, 1, h * w])
      : StridedCopyOperation(
        kind: "batch first", sizes: [b, shape.sequence, c * h * w],
        strides: [c * h * w, b * c * h * w, 1])
    return add(operation, [value], rows)
  }

  /// The inverse of `unrolled`.
  fileprivate mutating func rolled(
    _ value: Graph.ValueID, _ shape: Shape, channelLast: Bool
  ) -> Graph.ValueID {
    let (s, b) = (shape.sequence, shape.batch)
    let (c, h, w) = (shape.channels, shape.height, shape.width)
    let operation =
      channelLast
      ? StridedCopyOperation(
        kind: "from channels last", sizes: [s, b, c, h, w],
        strides: [c * h * w, s * c * h * w, 1, w * c, c])
      : StridedCopyOperation(
        kind: "sequence first", sizes: [s, b, c * h * w], strides: [c * h * w, s * c * h * w, 1])
    return add(operation, [value], shape)
  }

  fileprivate mutating func reshape(
    from readsChannelLast: Bool, to writesChannelLast: Bool
  ) throws -> [Graph.ValueID] {
    let input = inputShapes[0]
    let output = try outputShape()
    try require(
      input.batch == output.batch && input.count == output.count,
      "\(output.dimensions) does not have as many elements as \(input.dimensions)",
      field: "targetShape")
    let keepsOrder =
      (!readsChannelLast || input.channels == 1 || input.area == 1)
      && (!writesChannelLast || output.channels == 1 || output.area == 1)
    if keepsOrder, input.sequence == output.sequence || input.batch == 1 {
      return [add(ViewOperation(), inputs, output)]
    }
    let rows = try unrolled(inputs[0], channelLast: readsChannelLast)
    let isRow =
      output.sequence == 1 && (!writesChannelLast || output.channels == 1 || output.area == 1)
    if isRow { return [add(ViewOperation(), [rows], output)] }
    return [rolled(rows, output, channelLast: writesChannelLast)]
  }
}

extension Reshape: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    try layer.reshape(from: mode == .channelLast, to: mode == .channelLast)
  }
}

extension Flatten: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    if mode == .channelLast, output.sequence == input.sequence, output.area == 1 {
      // Flattens each item separately.
      let operation = StridedCopyOperation(
        kind: "flatten, channels last",
        sizes: [input.images, input.height, input.width, input.channels],
        strides: [input.itemCount, input.width, 1, input.area])
      if input.area > 1, input.channels > 1 { return [layer.add(operation, layer.inputs, output)] }
    }
    return try layer.reshape(from: mode == .channelLast, to: false)
  }
}

extension Permute: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    let axes = axis.isEmpty ? [0, 1, 2, 3] : axis
    try require(
      axes.sorted() == [0, 1, 2, 3], "\(axes) is not a permutation of 0, 1, 2, 3", field: "axis")
    if axes == [0, 1, 2, 3] { return layer.inputs }
    // Strides of `[Seq, C, H, W]`; the batch axis is between Seq and C.
    let steps = [input.batch * input.itemCount, input.area, input.width, 1]
    let sizes = [output.sequence, output.channels, output.height, output.width]
    let operation = StridedCopyOperation(
      kind: "permute", sizes: [sizes[0], output.batch] + sizes[1...],
      strides: [steps[axes[0]], input.itemCount] + axes[1...].map { steps[$0] })
    if let node = layer.graph.nodes.last, node.outputs == layer.inputs,
      let other = node.operation as? StridedCopyOperation, operation.reverts(other)
    {
      return [try layer.view(node.inputs[0], output)]
    }
    return [layer.add(operation, layer.inputs, output)]
  }
}
