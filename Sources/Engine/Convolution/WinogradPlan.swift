import Kernels
import TensorCore

/// A convolution with Winograd's algorithm and packed weights.
struct WinogradPlan: Sendable {
  private let schedule: WinogradSchedule
  private let kernels: any KernelTable.Type
  private let input: Operand
  private let output: Operand
  /// The values to add, and the floats from their first pixel to that for the output's first one.
  private let residual: (operand: Operand, offset: Int)?
  private let scratch: Operand.Location
  /// Floats from the input's start to tap (0, 0) of output pixel (0, 0).
  private let start: Int
  private let weights: Weights
  private let epilogue: FusedEpilogue
  var poolsMaximum = false

  /// The transformed weights, or the codes that are transformed panel by panel.
  private enum Weights: Sendable {
    case packed(Constant)
    case codes(WinogradCodes)
  }

  init(
    _ weights: ConvolutionWeights, window: WindowGeometry, schedule: WinogradSchedule,
    residual: (operand: Operand, offset: Int)?, context: StepContext
  ) throws {
    (input, output, scratch) = (context.inputs[0], context.outputs[0], context.scratch)
    self.residual = residual
    kernels = context.kernels
    self.schedule = schedule
    start = window.origin(in: input.layout)
    let geometry = schedule.geometry
    let floats = WinogradSchedule.weightFloats(geometry, schedule.form)
    if schedule.transformsCodes, let codes = try WinogradCodes(weights, schedule, context) {
      self.weights =
        schedule.expandsWeights
        ? .codes(codes) : .packed(try Self.expand(codes, schedule, floats: floats, context))
    } else {
      let packed = try Self.pack(
        weights.view(window, kernels), scale: weights.scale.map { try Constant($0) }, schedule,
        floats: floats, context)
      self.weights = .packed(packed)
    }
    epilogue = try FusedEpilogue(
      bias: weights.bias, weights.activation, channels: geometry.outputs)
  }

  private var from: BlobLayout { input.layout }
  private var to: BlobLayout { output.layout }

  /// The addresses of a run.
  private struct Buffers {
    let input: UnsafePointer<Float>
    let output: OutputView
    let epilogue: Epilogue
    let scratch: UnsafeMutablePointer<Float>
  }

  private static func pack(
    _ view: WeightView, scale: Constant?, _ schedule: WinogradSchedule, floats: Int,
    _ context: StepContext
  ) throws -> Constant {
    let buffer = try context.weightBuffer(floats: floats)
    let target = UnsafeMutableSendable(buffer.pointer.assumingMemoryBound(to: Float.self))
    view.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      context.pool.forEach(schedule.panels) { panel in
        context.kernels.packWinogradWeights(
          view.packingArguments(base, panels: panel..<panel + 1, packed: target.pointer),
          form: schedule.form, scale: scale?.pointer)
      }
    }
    view.bytes.dropPages()
    return Constant(buffer)
  }

  private static func expand(
    _ codes: WinogradCodes, _ schedule: WinogradSchedule, floats: Int, _ context: StepContext
  ) throws -> Constant {
    let buffer = try context.weightBuffer(floats: floats)
    let target = UnsafeMutableSendable(buffer.pointer.assumingMemoryBound(to: Float.self))
    context.pool.forEach(schedule.panels) { panel in
      codes.expand(
        panel: panel,
        to: PointBuffer(
          target.pointer + panel * schedule.panelWeightFloats,
          stride: schedule.channels * schedule.width(ofPanel: panel)), context.kernels)
    }
    return Constant(buffer)
  }

  func run(_ run: RunContext) {
    let pool = run.pool
    let target = run.pointer(output)
    var epilogue = epilogue.from()
    if let (operand, offset) = residual {
      epilogue.residual = UnsafePointer(run.pointer(operand)) + operand.layout.origin + offset
      epilogue.residualStrides = operand.layout.strides
    }
    let buffers = Buffers(
      input: UnsafePointer(run.pointer(input)) + start,
      output: OutputView(target + to.origin, to.strides), epilogue: epilogue,
      scratch: run.pointer(scratch))
    let products =
      buffers.scratch + (schedule.isShared ? 1 : schedule.threads) * schedule.transformedFloats
    if !schedule.isShared {
      pool.share(schedule.batches) { thread, units in
        to.clearHalos(ofThread: thread, pool.threadCount, in: target)
        let transformed = buffers.scratch + thread * schedule.transformedFloats
        for batch in units {
          let tiles = ThreadPool.share(of: schedule.tiles, batch, schedule.batches)
          transformInput(tiles, blocks: 0..<from.channelBlocks, buffers, transformed)
          computeOutput(
            self.transformed(tiles, transformed), 0..<schedule.panels, thread, buffers, products)
        }
      }
      return
    }
    for batch in 0..<schedule.batches {
      let tiles = ThreadPool.share(of: schedule.tiles, batch, schedule.batches)
      pool.onEveryThread { thread, threads in
        if batch == 0 { to.clearHalos(ofThread: thread, threads, in: target) }
        if from.channelBlocks >= tiles.count {
          let blocks = ThreadPool.share(of: from.channelBlocks, thread, threads)
          transformInput(tiles, blocks: blocks, buffers, buffers.scratch)
        } else {
          let share = ThreadPool.share(of: tiles, thread, threads)
          transformInput(
            share, blocks: 0..<from.channelBlocks, buffers,
            buffers.scratch + (share.lowerBound - tiles.lowerBound) * schedule.tileStride)
        }
      }
      let groups = (schedule.panels + schedule.panelsAtOnce - 1) / schedule.panelsAtOnce
      let parts = schedule.tileParts
      pool.share(groups * parts) { thread, units in
        for unit in units {
          let first = unit / parts * schedule.panelsAtOnce
          let part = ThreadPool.share(of: tiles, unit % parts, parts)
          let start =
            buffers.scratch + (part.lowerBound - tiles.lowerBound) * schedule.tileStride
          computeOutput(
            transformed(part, start), first..<min(schedule.panels, first + schedule.panelsAtOnce),
            thread, buffers, products)
        }
      }
    }
  }

  private func tiles(_ range: Range<Int>) -> WinogradTiles {
    WinogradTiles(
      form: schedule.form, rows: schedule.geometry.rows, width: schedule.geometry.width,
      first: range.lowerBound, count: range.count)
  }

  private func transformInput(
    _ range: Range<Int>, blocks: Range<Int>, _ buffers: Buffers,
    _ transformed: UnsafeMutablePointer<Float>
  ) {
    kernels.winogradInput(
      tiles(range),
      InputTransformArguments(
        input: InputView(buffers.input, from.strides), blocks: blocks,
        transformed: transformed, transformedStrides: schedule.strides))
  }

  private func transformed(_ range: Range<Int>, _ start: UnsafePointer<Float>) -> TransformedTiles {
    TransformedTiles(tiles(range), start, schedule.strides)
  }

  /// - Parameter products: working memory of the threads: the products of each, then expanded
  ///   weights.
  private func computeOutput(
    _ transformed: TransformedTiles, _ range: Range<Int>, _ thread: Int,
    _ buffers: Buffers, _ products: UnsafeMutablePointer<Float>
  ) {
    let own = products + thread * schedule.productFloats
    switch weights {
    case .packed(let packed):
      let panels = WinogradPanels(
        weights: packed.pointer, channels: schedule.channels, range: range,
        atOnce: schedule.panelsAtOnce)
      computeOutput(transformed, panels, buffers, own)
    case .codes(let codes):
      for panel in range {
        // With more threads than panels, each panel has its own memory.
        let slot = schedule.threads > schedule.panels ? panel : thread
        let expanded =
          products + schedule.threads * schedule.productFloats + slot * schedule.expandedFloats
        let stride = schedule.expandedPointStride
        codes.expand(panel: panel, to: PointBuffer(expanded, stride: stride), kernels)
        let panels = WinogradPanels(
          weights: expanded - panel * schedule.panelWeightFloats, pointStride: stride,
          channels: schedule.channels, range: panel..<panel + 1, atOnce: schedule.panelsAtOnce)
        computeOutput(transformed, panels, buffers, own)
      }
    }
  }

  private func computeOutput(
    _ transformed: TransformedTiles, _ panels: WinogradPanels, _ buffers: Buffers,
    _ products: UnsafeMutablePointer<Float>
  ) {
    var arguments = WinogradOutputArguments(
      transformed: transformed, panels: panels,
      products: PointBuffer(products, stride: schedule.productStride),
      output: buffers.output, outputBlocks: schedule.outputBlocks)
    arguments.epilogue = buffers.epilogue
    arguments.poolsMaximum = poolsMaximum
    kernels.winogradOutput(arguments)
  }
}
