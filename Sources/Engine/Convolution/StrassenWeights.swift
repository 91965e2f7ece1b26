import Kernels
import TensorCore

/// The right-hand factors of the seven products; see `StrassenPairs`.
enum StrassenWeights {
  /// Weights as `[panel][product][c][column]`, each product packed for `convolution`.
  static func pack(
    _ view: WeightView, scale: [Float]?, _ schedule: StrassenSchedule, _ context: StepContext
  ) throws -> Constant {
    let buffer = try context.weightBuffer(floats: schedule.weightFloats)
    let target = UnsafeMutableSendable(buffer.pointer.assumingMemoryBound(to: Float.self))
    let channels = schedule.inputBlocks * schedule.block
    let width = schedule.panelBlocks * schedule.block
    try view.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let source = base + view.offset * 4
      // Four rows and seven factors.
      let floats = try checkedProduct([channels, 4 + StrassenPairs.products * width])
      let memory = try AlignedBuffer(
        checkedByteCount: checkedProduct([context.threadCount, floats, 4]))
      let start = UnsafeMutableSendable(memory.pointer.assumingMemoryBound(to: Float.self))
      context.pool.share(schedule.panels) { thread, panels in
        for panel in panels {
          pack(
            panel, view, source, scale, schedule, context.kernels,
            rows: start.pointer + thread * floats,
            to: target.pointer + StrassenPairs.products * schedule.weightFloats(before: panel))
        }
      }
    }
    view.bytes.dropPages()
    return Constant(buffer)
  }

  private static func pack(
    _ panel: Int, _ view: WeightView, _ source: UnsafeRawPointer, _ scale: [Float]?,
    _ schedule: StrassenSchedule, _ kernels: any KernelTable.Type,
    rows row: UnsafeMutablePointer<Float>, to target: UnsafeMutablePointer<Float>
  ) {
    let channels = schedule.inputBlocks * schedule.block
    let halfOutputs = schedule.outputBlocks * schedule.block
    let width = schedule.blocks(ofPanel: panel) * schedule.block
    let first = panel * schedule.panelBlocks * schedule.block
    let floats = width * channels
    let factor = row + 4 * channels
    for column in 0..<width {
      // B₁₁ and B₂₁ belong to an output channel of the first half, B₁₂ and B₂₂ to one of the second.
      read(first + column, view, source, scale, channels: 2 * channels, to: row)
      read(
        first + column + halfOutputs, view, source, scale, channels: 2 * channels,
        to: row + 2 * channels)
      combine(row, channels: channels, to: factor + column * channels, stride: floats)
    }
    for product in 0..<StrassenPairs.products {
      kernels.packConvolutionWeights(
        PackingArguments(
          source: factor + product * floats,
          layout: WeightLayout(
            outputStride: channels, inputStride: 1, rowStride: 1, columnStride: 1,
            outputChannels: width, inputChannels: channels, kernelHeight: 1, kernelWidth: 1),
          panels: 0..<1, packed: target + product * floats),
        blockChannels: schedule.block, panelBlocks: schedule.panelBlocks)
    }
  }

  /// Reads the scaled weights of one output channel, with zeros past the last channel.
  private static func read(
    _ output: Int, _ view: WeightView, _ source: UnsafeRawPointer, _ scale: [Float]?,
    channels: Int, to target: UnsafeMutablePointer<Float>
  ) {
    let used = output < view.outputChannels ? view.inputChannels : 0
    let factor = used > 0 ? scale?[output] ?? 1 : 1
    let row = source + output &* view.outputStride &* 4
    if view.inputStride == 1 {
      for channel in 0..<used {
        target[channel] = (row + channel &* 4).loadUnaligned(as: Float.self) * factor
      }
      (target + used).update(repeating: 0, count: channels - used)
      return
    }
    for channel in 0..<used {
      target[channel] =
        (row + channel &* view.inputStride &* 4).loadUnaligned(as: Float.self) * factor
    }
    (target + used).update(repeating: 0, count: channels - used)
  }

  private static func combine(
    _ rows: UnsafePointer<Float>, channels: Int, to factors: UnsafeMutablePointer<Float>,
    stride: Int
  ) {
    // Whole blocks of at least four channels.
    for channel in Swift.stride(from: 0, to: channels, by: 4) {
      func load(_ row: Int) -> SIMD4<Float> {
        UnsafeRawPointer(rows + (row &* channels &+ channel)).loadUnaligned(as: SIMD4<Float>.self)
      }
      func store(_ values: SIMD4<Float>, _ product: Int) {
        UnsafeMutableRawPointer(factors + (product &* stride &+ channel))
          .storeBytes(of: values, as: SIMD4<Float>.self)
      }
      let (b11, b21, b12, b22) = (load(0), load(1), load(2), load(3))
      store(b11 + b22, 0)
      store(b11, 1)
      store(b12 - b22, 2)
      store(b21 - b11, 3)
      store(b22, 4)
      store(b11 + b12, 5)
      store(b21 + b22, 6)
    }
  }
}
