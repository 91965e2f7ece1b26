import Kernels
import TensorCore

/// A depthwise convolution fused with the 1 × 1 convolution that is its only reader. The second
/// reads bands of rows of the first while they are in the cache; the intermediate blob is never
/// stored in full.
struct SeparableConvolutionOperation: NodeOperation {
  var depthwise: ConvolutionOperation
  var pointwise: ConvolutionOperation
  /// The shape of the blob between the two.
  var middle: Shape

  var kind: String { "separable convolution" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    let first = NodeShapes(
      inputs: [shapes.inputs[0]], outputs: [middle], producedBlocks: [shapes.producedBlocks[0]])
    return LayoutPreferences(
      inputs: depthwise.layoutWishes(first).inputs + (pointwise.hasResidual ? [.blocked] : []),
      outputs: [.blocked])
  }

  func describe(_ context: StepContext) -> StepNote {
    let first = depthwise.directNote(inputBlock: context.channelBlock, middle, context)
    let second = pointwise.directNote(inputBlock: context.channelBlock, middle, context)
    return StepNote(
      kernel: "\(first.kernel), \(second.kernel)",
      weightBytes: first.weightBytes + second.weightBytes)
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    let bands = SeparableBands(middle, block: context.channelBlock, threads: context.threadCount)
    return try context.threadCount
      * (layout(of: bands, context).floatCount
        + pointwise.expandedFloats(inputBlock: context.channelBlock, middle, context))
  }

  /// Layout of the intermediate blob for the highest band.
  private func layout(of bands: SeparableBands, _ context: StepContext) throws -> BlobLayout {
    let shape = try Shape([1, 1, middle.channels, bands.rows, middle.width])
    return try BlobLayout(shape, block: context.channelBlock)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let residual = pointwise.hasResidual ? context.inputs[1] : nil
    let bands = SeparableBands(middle, block: context.channelBlock, threads: context.threadCount)
    let between = try layout(of: bands, context)
    let first = try depthwise.makePlan(inputBlock: input.layout.block, middle, context)
    let second = try pointwise.makePlan(inputBlock: between.block, middle, context)
    let expandedFloats = pointwise.expandedFloats(inputBlock: between.block, middle, context)
    let from = input.layout
    let to = output.layout
    let isFlat =
      to.hasContiguousPlanes && (residual?.layout.hasContiguousPlanes ?? true)
    let start = depthwise.window.origin(in: from)
    let stride = depthwise.window.stride[0]
    let width = middle.width
    let scratch = context.scratch
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      let added = residual.map { UnsafePointer(run.pointer($0)) }
      let bandsOfThreads = run.pointer(scratch)
      run.share(bands.count, writing: output) { thread, units in
        let band = bandsOfThreads + thread * (between.floatCount + expandedFloats)
        var expansion = DirectPlan.Expansion(band + between.floatCount)
        for unit in units {
          let (image, rows) = bands[unit]
          first.run(
            0..<first.panels,
            DirectPlan.Rows(
              input: InputView(
                source + start + image * from.imageStride
                  + rows.lowerBound * stride * from.rowStride, from.strides),
              output: OutputView(band, between.strides), count: rows.count, width: width))
          var mixed = DirectPlan.Rows(
            input: InputView(band, between.strides), isInputNear: true,
            output: OutputView(
              target + to.origin + image * to.imageStride + rows.lowerBound * to.rowStride,
              to.strides), count: isFlat ? 1 : rows.count,
            width: isFlat ? rows.count * width : width)
          if let residual, let added {
            let layout = residual.layout
            mixed.residual =
              added + layout.origin + image * layout.imageStride
              + rows.lowerBound * layout.rowStride
            mixed.residualStrides = layout.strides
          }
          second.run(0..<second.panels, mixed, &expansion)
        }
      }
    }
  }
}

/// How the rows of all images are cut into bands that fit the second-level cache.
struct SeparableBands: Sendable {
  private let images: Int
  private let height: Int
  private let perImage: Int
  /// Rows of the highest band.
  var rows: Int { (height + perImage - 1) / perImage }
  var count: Int { images * perImage }
  /// Whether no thread has much more than its share of the work.
  let isBalanced: Bool

  private static let cacheBytes = 208 << 10

  init(_ shape: Shape, block: Int, threads: Int) {
    let lineBytes = shape.width * ((shape.channels + block - 1) / block * block) * 4
    let most = max(1, min(shape.height, Self.cacheBytes / max(1, lineBytes)))
    images = shape.images
    height = shape.height
    var bands = (shape.height + most - 1) / most
    while shape.images * bands % threads != 0, bands < shape.height { bands += 1 }
    perImage = bands
    let share = (shape.images * bands + threads - 1) / threads
    let highest = (shape.height + bands - 1) / bands
    isBalanced = share * highest * threads * 8 <= shape.images * shape.height * 9
  }

  subscript(index: Int) -> (image: Int, rows: Range<Int>) {
    (index / perImage, ThreadPool.share(of: height, index % perImage, perImage))
  }
}
