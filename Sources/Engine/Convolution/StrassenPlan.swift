import Kernels
import TensorCore

/// A part of a 1 × 1 convolution with Strassen's algorithm and packed weights.
struct StrassenPlan: Sendable {
  let schedule: StrassenSchedule
  private let kernels: any KernelTable.Type
  private let from: BlobLayout
  private let to: BlobLayout
  private let residual: BlobLayout?
  /// Floats from the input's start to the first element that output pixel (0, 0) reads.
  private let start: Int
  private let stride: [Int]
  /// `[panel][product][c][column]`
  private let weights: Constant
  private let epilogue: FusedEpilogue

  init(
    _ weights: ConvolutionWeights, window: WindowGeometry, schedule: StrassenSchedule,
    residual: BlobLayout?, context: StepContext
  ) throws {
    self.schedule = schedule
    from = context.inputs[0].layout
    to = context.outputs[0].layout
    kernels = context.kernels
    start = window.origin(in: from) + schedule.firstInput / from.block * from.planeStride
    stride = window.stride
    var view = try weights.view(window, context.kernels)
    view.offset += schedule.firstInput * view.inputStride
    let inputsLeft = view.inputChannels - schedule.firstInput
    view.inputChannels = min(inputsLeft, schedule.geometry.inputs)
    self.weights = try StrassenWeights.pack(view, scale: weights.scale, schedule, context)
    let accumulates = schedule.addsToOutput
    self.residual = accumulates ? to : residual
    epilogue = try FusedEpilogue(
      bias: accumulates ? nil : weights.bias,
      inputsLeft > view.inputChannels ? .none : weights.activation,
      channels: to.channelBlocks * to.block)
  }

  /// Computes one thread's units.
  func run(_ units: SharedUnits, ofThread thread: Int, _ buffers: ConvolutionBuffers) {
    let sums = buffers.scratch + thread * schedule.floatsOfThread
    let products = sums + StrassenPairs.products * schedule.sumStride
    var present: Int?
    for unit in units {
      let band = unit / schedule.panels
      let pairs = pairs(schedule.band(band))
      if band != present { formSums(pairs, buffers.input, sums) }
      present = band
      let panel = unit % schedule.panels
      multiply(pairs, panel: panel, sums, products)
      combine(pairs, panel: panel, products, buffers)
    }
  }

  private func pairs(_ range: Range<Int>) -> StrassenPairs {
    StrassenPairs(
      images: schedule.geometry.images, rows: schedule.geometry.rows,
      width: schedule.geometry.width,
      first: range.lowerBound, count: range.count)
  }

  private func formSums(
    _ pairs: StrassenPairs, _ input: UnsafePointer<Float>, _ sums: UnsafeMutablePointer<Float>
  ) {
    kernels.strassenInput(
      pairs, input: input + start,
      inputStrides: Strides(
        pixel: stride[1] * from.pixelStride, row: stride[0] * from.rowStride,
        block: from.planeStride,
        image: from.imageStride),
      blocks: schedule.inputBlocks, allBlocks: schedule.geometry.inputs / schedule.block,
      runBlocks: schedule.runBlocks, sums: sums,
      productStride: schedule.sumStride)
  }

  private func multiply(
    _ pairs: StrassenPairs, panel: Int, _ sums: UnsafePointer<Float>,
    _ products: UnsafeMutablePointer<Float>
  ) {
    let block = schedule.block
    let run = schedule.runBlocks * block
    let blocks = schedule.blocks(ofPanel: panel)
    let floats = blocks * block * schedule.inputBlocks * block
    let first =
      weights.pointer + StrassenPairs.products * schedule.weightFloats(before: panel)
    for product in 0..<StrassenPairs.products {
      var arguments = ConvolutionArguments(
        input: sums + product * schedule.sumStride,
        inputStrides: Strides(pixel: run, block: pairs.count * run),
        inputBlocks: schedule.inputBlocks / schedule.runBlocks, blockChannels: run,
        weights: first + product * floats,
        output: products + product * schedule.productStride,
        outputStrides: Strides(pixel: blocks * block, block: block),
        extent: Extent(blocks: blocks, rows: 1, width: pairs.count))
      arguments.isInputNear = true
      kernels.convolution(arguments)
    }
  }

  private func combine(
    _ pairs: StrassenPairs, panel: Int, _ products: UnsafePointer<Float>,
    _ buffers: ConvolutionBuffers
  ) {
    kernels.strassenOutput(
      pairs, products: products, productStride: schedule.productStride,
      width: schedule.blocks(ofPanel: panel) * schedule.block,
      channel: panel * schedule.panelBlocks * schedule.block,
      halfChannels: schedule.geometry.halfOutputs,
      channels: schedule.geometry.outputs, output: buffers.output + to.origin,
      outputStrides: to.strides,
      epilogue: epilogue.from().adding(
        schedule.addsToOutput ? UnsafePointer(buffers.output) : buffers.residual, residual))
  }
}
