import Kernels
import TensorCore

/// A 3 × 3 convolution by Winograd's algorithm, with packed weights.
struct WinogradPlan: Sendable {
  private let geometry: WinogradGeometry
  private let schedule: WinogradSchedule
  private let kernels: KernelTable
  private let from: TensorLayout
  private let to: TensorLayout
  private let residual: TensorLayout?
  /// Floats from the input's start to tap (0, 0) of output pixel (0, 0).
  private let start: Int
  private let packed: Constant
  private let bias: Constant?
  private let slopes: Constant?
  private let epilogue: Epilogue
  private let poolsMaximum: Bool

  init(
    _ weights: ConvolutionWeights, view: WeightView, window: WindowGeometry, size: Int,
    geometry: WinogradGeometry, poolsMaximum: Bool, residual: TensorLayout?, context: StepContext
  ) throws {
    self.geometry = geometry
    self.poolsMaximum = poolsMaximum
    from = context.inputs[0].layout
    to = context.outputs[0].layout
    self.residual = residual
    kernels = context.kernels
    schedule = WinogradSchedule(
      geometry, size: size, kernels: kernels, threads: context.threadCount)
    start = window.origin(in: from)
    packed = try Self.pack(
      view, scale: weights.scale, size: size, panels: schedule.panels,
      floats: WinogradSchedule.weightFloats(geometry, size: size), context: context)
    let padded = to.channelBlocks * to.block
    bias = try weights.bias.map { try Constant($0, paddedTo: padded) }
    (epilogue, slopes) = try weights.activation.epilogue(paddedChannels: padded)
  }

  private static func pack(
    _ view: WeightView, scale: [Float]?, size: Int, panels: Int, floats: Int, context: StepContext
  ) throws -> Constant {
    let buffer = try context.weightBuffer(floats: floats)
    let target = UnsafeMutableSendable(buffer.pointer.assumingMemoryBound(to: Float.self))
    let scale = try scale.map { try Constant($0) }
    view.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      context.pool.forEach(panels) { panel in
        context.kernels.packWinogradWeights(
          WinogradPackingArguments(
            size: size, source: base + view.offset * 4, outputStride: view.outputStride,
            inputStride: view.inputStride, rowStride: view.rowStride,
            columnStride: view.columnStride, outputChannels: view.outputChannels,
            inputChannels: view.inputChannels, scale: scale?.pointer, firstPanel: panel,
            panelCount: 1, packed: target.pointer))
      }
    }
    view.bytes.dropPages()
    return Constant(buffer)
  }

  /// Where a run finds and leaves its data: the starts of the buffers.
  struct Buffers {
    var input: UnsafePointer<Float>
    var output: UnsafeMutablePointer<Float>
    var residual: UnsafePointer<Float>?
    var scratch: UnsafeMutablePointer<Float>
  }

  func run(_ buffers: Buffers, _ pool: ThreadPool) {
    let products =
      buffers.scratch + (schedule.isShared ? 1 : schedule.threads) * schedule.transformedFloats
    if !schedule.isShared {
      pool.share(schedule.batches) { thread, units in
        to.clearHalos(ofThread: thread, pool.threadCount, in: buffers.output)
        let transformed = buffers.scratch + thread * schedule.transformedFloats
        for batch in units {
          let tiles = ThreadPool.share(of: schedule.tiles, batch, schedule.batches)
          transformInput(tiles, blocks: 0..<from.channelBlocks, buffers, transformed)
          computeOutput(
            tiles, panels: 0..<schedule.panels, buffers, transformed,
            products + thread * schedule.productFloats)
        }
      }
      return
    }
    for batch in 0..<schedule.batches {
      let tiles = ThreadPool.share(of: schedule.tiles, batch, schedule.batches)
      pool.onEveryThread { thread, threads in
        if batch == 0 { to.clearHalos(ofThread: thread, threads, in: buffers.output) }
        if from.channelBlocks >= tiles.count {
          let blocks = ThreadPool.share(of: from.channelBlocks, thread, threads)
          transformInput(tiles, blocks: blocks, buffers, buffers.scratch)
        } else {
          let share = ThreadPool.share(of: tiles.count, thread, threads)
          transformInput(
            tiles.lowerBound + share.lowerBound..<tiles.lowerBound + share.upperBound,
            blocks: 0..<from.channelBlocks, buffers,
            buffers.scratch + share.lowerBound * schedule.tileStride)
        }
      }
      let groups = (schedule.panels + schedule.panelsAtOnce - 1) / schedule.panelsAtOnce
      pool.share(groups) { thread, units in
        for group in units {
          let first = group * schedule.panelsAtOnce
          computeOutput(
            tiles, panels: first..<min(schedule.panels, first + schedule.panelsAtOnce), buffers,
            buffers.scratch, products + thread * schedule.productFloats)
        }
      }
    }
  }

  private func tiles(_ range: Range<Int>) -> WinogradTiles {
    WinogradTiles(
      size: schedule.size, rows: geometry.rows, width: geometry.width, first: range.lowerBound,
      count: range.count)
  }

  private func transformInput(
    _ range: Range<Int>, blocks: Range<Int>, _ buffers: Buffers,
    _ transformed: UnsafeMutablePointer<Float>
  ) {
    kernels.winogradInput(
      WinogradInputArguments(
        tiles: tiles(range), input: buffers.input + start, inputRowStride: from.rowStride,
        inputBlockStride: from.planeStride, inputImageStride: from.imageStride,
        firstBlock: blocks.lowerBound, blocks: blocks.count, transformed: transformed,
        tileStride: schedule.tileStride, pointStride: schedule.pointStride))
  }

  private func computeOutput(
    _ range: Range<Int>, panels: Range<Int>, _ buffers: Buffers,
    _ transformed: UnsafePointer<Float>, _ products: UnsafeMutablePointer<Float>
  ) {
    var epilogue = epilogue
    epilogue.slopes = slopes?.pointer
    if let residual, let values = buffers.residual {
      epilogue.residual = values + residual.origin
      epilogue.residualRowStride = residual.rowStride
      epilogue.residualBlockStride = residual.planeStride
    }
    kernels.winogradOutput(
      WinogradOutputArguments(
        tiles: tiles(range), transformed: transformed, tileStride: schedule.tileStride,
        pointStride: schedule.pointStride, channels: schedule.channels, weights: packed.pointer,
        firstPanel: panels.lowerBound, panelCount: panels.count,
        panelsAtOnce: schedule.panelsAtOnce, products: products,
        productStride: schedule.productStride, output: buffers.output + to.origin,
        outputRowStride: to.rowStride, outputBlockStride: to.planeStride,
        outputImageStride: to.imageStride, outputBlocks: schedule.outputBlocks,
        bias: bias?.pointer, epilogue: epilogue,
        residualImageStride: residual?.imageStride ?? 0, poolsMaximum: poolsMaximum))
  }
}
