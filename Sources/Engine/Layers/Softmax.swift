import CoreMLModel
import Kernels
import TensorCore

/// exp(x − max) / Σ exp(x − max) over the channels of each pixel.
struct SoftmaxOperation: NodeOperation {
  var kind: String { "softmax" }
  var canRunInPlace: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    LayoutPreferences(inputs: [.blocked], outputs: [.blocked])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    context.forEachRow(context.kernels.blockedSoftmax)
  }
}

extension StepContext {
  /// A step that passes each row of blocked pixels to `body`.
  func forEachRow(_ body: @escaping @Sendable (BlockedPixels) -> Void) -> StepBody {
    let (input, output) = (inputs[0], outputs[0])
    let (from, to) = (input.layout, output.layout)
    let shape = to.shape
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      run.parallel(shape.images * shape.height, writing: output) { unit in
        let (image, row) = unit.quotientAndRemainder(dividingBy: shape.height)
        body(
          BlockedPixels(
            input: InputView(
              source + from.origin + image * from.imageStride + row * from.rowStride, from.strides),
            output: OutputView(
              target + to.origin + image * to.imageStride + row * to.rowStride, to.strides),
            pixels: shape.width, channels: shape.channels))
      }
    }
  }
}

/// The softmax of groups of `length` adjacent elements of a row-major array.
struct RowSoftmaxOperation: NodeOperation {
  var length: Int

  var kind: String { "softmax" }
  var canRunInPlace: Bool { true }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let (input, output, length) = (context.inputs[0], context.outputs[0], length)
    let (kernels, count) = (context.kernels, output.layout.shape.count / length)
    let pieces = min(count, context.threadCount * 8)
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.pool.forEach(pieces) { piece in
        for row in ThreadPool.share(of: count, piece, pieces) {
          kernels.softmax(source + row * length, to: target + row * length, count: length)
        }
      }
    }
  }
}

extension LayerLowering {
  /// The softmax over the channels of each pixel.
  fileprivate mutating func softmaxOfChannels(_ shape: Shape) -> [Graph.ValueID] {
    if shape.area == 1 { return [softmaxOfRows(inputs[0], length: shape.channels)] }
    // Attention moves its rows, which are adjacent, to the channels and back: see `Permute`.
    if let node = graph.nodes.last, node.outputs == [inputs[0]],
      let copy = node.operation as? StridedCopyOperation, copy.sizes == shape.dimensions,
      copy.isPermutation, copy.strides[2] == 1
    {
      return [add(copy, [softmaxOfRows(node.inputs[0], length: shape.channels)], shape)]
    }
    return [add(SoftmaxOperation(), inputs, shape)]
  }

  /// The softmax of groups of `length` adjacent elements.
  fileprivate mutating func softmaxOfRows(_ value: Graph.ValueID, length: Int) -> Graph.ValueID {
    let shape = graph.shape(value)
    return add(RowSoftmaxOperation(length: length), [value], shape)
  }
}

extension Softmax: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    layer.softmaxOfChannels(try layer.outputShape())
  }
}

extension SoftmaxND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let axis = try ArrayShape.axis(axis, rank: shape.rank)
    let last = shape.rank - 1
    if axis == shape.channelAxis, shape.rank < 6 { return layer.softmaxOfChannels(shape) }
    let length = shape.dimensions[axis]
    if axis == last { return [layer.softmaxOfRows(layer.inputs[0], length: length)] }
    var order = Array(0...last)
    order.swapAt(axis, last)
    let rows = try layer.transposed(layer.inputs[0], order)
    return [try layer.transposed(layer.softmaxOfRows(rows, length: length), order)]
  }
}
