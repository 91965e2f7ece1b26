import CoreMLModel
import Kernels
import TensorCore

/// A transposed convolution. Output rows and columns with the same remainder modulo the stride form
/// one ordinary convolution with every stride-th weight, flipped. The direct kernel writes such a
/// phase in place between the others; other kernels write to working memory first.
struct TransposedConvolutionOperation: NodeOperation {
  var weights: ConvolutionWeights
  /// `start` is cut off the top and left of the full result.
  var window: WindowGeometry

  var kind: String { "transposed convolution" }
  var sumsProducts: Bool { true }

  /// One remainder along one axis.
  struct Phase: Sendable {
    /// The first output position, and the number of positions, `stride` apart.
    var first: Int
    var count: Int
    /// The first index in the kernel, and the number of taps, `stride` apart.
    var weight: Int
    var taps: Int
    /// The input position under tap 0 of the flipped kernel for the first output; may be negative.
    var input: Int
  }

  static func phases(kernel: Int, stride: Int, cut: Int, output: Int) -> [Phase] {
    (0..<min(stride, output)).map { first in
      let weight = (first + cut) % stride
      let taps = kernel > weight ? (kernel - weight + stride - 1) / stride : 0
      return Phase(
        first: first, count: (output - first + stride - 1) / stride, weight: weight, taps: taps,
        input: (first + cut - weight) / stride - (taps - 1))
    }
  }

  private func phases(_ output: Shape) -> (rows: [Phase], columns: [Phase]) {
    (
      Self.phases(
        kernel: window.kernel[0], stride: window.stride[0], cut: window.start[0],
        output: output.height),
      Self.phases(
        kernel: window.kernel[1], stride: window.stride[1], cut: window.start[1],
        output: output.width)
    )
  }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    let input = shapes.inputs[0]
    let (rows, columns) = phases(shapes.outputs[0])
    func reach(_ phases: [Phase], _ size: Int) -> (Int, Int) {
      let used = phases.filter { $0.taps > 0 }
      return (
        used.map { max(0, -$0.input) }.max() ?? 0,
        used.map { max(0, $0.input + $0.taps - 1 + $0.count - size) }.max() ?? 0
      )
    }
    let (top, bottom) = reach(rows, input.height)
    let (left, right) = reach(columns, input.width)
    let halo = Halo(top: top, bottom: bottom, left: left, right: right)
    return LayoutPreferences(
      inputs: [LayoutPreference(block: .blocked, halo: halo)], outputs: [.blocked])
  }

  func describe(_ context: StepContext) -> StepNote {
    let path = weights.path(block: context.channelBlock)
    let floats = DirectPlan.packedFloats(
      view(Bytes(), nil, nil), path: path, groups: weights.groups, block: context.channelBlock,
      blockChannels: context.channelBlock)
    return StepNote(
      kernel: "\(path) transposed \(window.kernel[0])×\(window.kernel[1])"
        + weights.activation.label, weightBytes: floats * 4)
  }

  /// Room for the largest phase of all images.
  func scratchFloats(_ context: StepContext) throws -> Int {
    weights.path(block: context.channelBlock) == .direct
      ? 0 : try scratchLayout(context.outputs[0].layout).floatCount
  }

  private func scratchLayout(_ output: BlobLayout) throws -> BlobLayout {
    let shape = output.shape
    let height = (shape.height + window.stride[0] - 1) / window.stride[0]
    let width = (shape.width + window.stride[1] - 1) / window.stride[1]
    return try BlobLayout(shape.resized(height: height, width: width), block: output.block)
  }

  /// The weights of one phase, or of the whole kernel.
  private func view(_ bytes: Bytes, _ row: Phase?, _ column: Phase?) -> WeightView {
    let area = window.kernel[0] * window.kernel[1]
    var view = WeightView(
      bytes: bytes,
      layout: WeightLayout(
        outputChannels: weights.groupOutputs, inputChannels: weights.groupInputs,
        kernelHeight: window.kernel[0], kernelWidth: window.kernel[1]),
      groupStride: weights.groupInputs * weights.groupOutputs * area)
    (view.outputStride, view.inputStride) = (area, weights.groupOutputs * area)
    if let row, let column {
      let lastRow = row.weight + (row.taps - 1) * window.stride[0]
      let lastColumn = column.weight + (column.taps - 1) * window.stride[1]
      view.offset = lastRow * window.kernel[1] + lastColumn
      view.rowStride = -window.stride[0] * window.kernel[1]
      view.columnStride = -window.stride[1]
      view.kernelHeight = row.taps
      view.kernelWidth = column.taps
    }
    return view
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let scratch = context.scratch
    let scratchLayout = try scratchLayout(to)
    let path = weights.path(block: context.channelBlock)
    let bytes = try weights.values.contiguous(context.kernels)
    let (rows, columns) = phases(to.shape)
    let stride = window.stride
    var parts: [(row: Phase, column: Phase, plan: DirectPlan?)] = []
    for row in rows {
      for column in columns {
        let plan =
          row.taps == 0 || column.taps == 0
          ? nil
          : try DirectPlan(
            weights, view(bytes, row, column), Window(), inputBlock: from.block, context: context)
        parts.append((row, column, plan))
      }
    }
    let phases = parts
    let fill = try Constant(weights.bias ?? [], paddedTo: to.channelBlocks * to.block)
    RowFunctions(weights.functions, context.kernels).apply(
      fill.buffer.pointer.assumingMemoryBound(to: Float.self), count: 1,
      channels: weights.outputs, planeStride: 1)
    return { run in
      let source = UnsafePointer(run.pointer(input)) + from.origin
      let target = run.pointer(output)
      run.parallel(0, writing: output) { _ in }
      let strides = Strides(
        pixel: stride[1] * to.block, row: stride[0] * to.rowStride, block: to.planeStride)
      for (row, column, plan) in phases {
        let first = row.first * to.rowStride + column.first * to.block
        let extent = Extent(blocks: 1, rows: row.count, width: column.count)
        guard let plan else {
          run.pool.forEach(to.planes) { plane in
            let lanes = fill.pointer + plane % to.channelBlocks * to.block
            Self.spread(
              InputView(lanes), OutputView(target + to.planeOffset(plane) + first, strides), extent,
              block: to.block)
          }
          continue
        }
        let partial = path == .direct ? nil : run.pointer(scratch)
        let bands = min(row.count, max(1, run.pool.threadCount * 4 / plan.panels))
        run.pool.forEach(to.shape.images * plan.panels * bands) { unit in
          let image = unit / (plan.panels * bands)
          let panel = unit / bands % plan.panels
          let band = ThreadPool.share(of: row.count, unit % bands, bands)
          let taps =
            source + image * from.imageStride + (row.input + band.lowerBound) * from.rowStride
            + column.input * from.block
          var rows = DirectPlan.Rows(
            input: InputView(taps, from.strides),
            output: OutputView(
              target + to.origin + image * to.imageStride + first + band.lowerBound * strides.row,
              strides), count: band.count, width: column.count)
          if let partial {
            rows.output = OutputView(
              partial + image * scratchLayout.imageStride
                + band.lowerBound * scratchLayout.rowStride, scratchLayout.strides)
          }
          plan.run(panel..<panel + 1, rows)
        }
        guard let partial else { continue }
        run.pool.forEach(to.planes) { plane in
          Self.spread(
            InputView(partial + scratchLayout.planeOffset(plane), scratchLayout.strides),
            OutputView(target + to.planeOffset(plane) + first, strides), extent, block: to.block)
          to.clearEmptyLanes(ofPlane: plane, in: target)
        }
      }
    }
  }

  /// Writes the pixels of one phase of one plane between those of the other phases.
  private static func spread(
    _ source: InputView, _ target: OutputView, _ extent: Extent, block: Int
  ) {
    for y in 0..<extent.rows {
      var pixel = target.base + y * target.strides.row
      var value = source.base + y * source.strides.row
      for _ in 0..<extent.width {
        pixel.update(from: value, count: block)
        pixel += target.strides.pixel
        value += source.strides.pixel
      }
    }
  }
}
