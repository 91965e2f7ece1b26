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
    view.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let source = base + view.offset * 4
      context.pool.forEach(schedule.panels) { panel in
        pack(
          panel, view, source, scale, schedule, context.kernels,
          to: target.pointer + StrassenPairs.products * schedule.weightFloats(before: panel))
      }
    }
    view.bytes.dropPages()
    return Constant(buffer)
  }

  private static func pack(
    _ panel: Int, _ view: WeightView, _ source: UnsafeRawPointer, _ scale: [Float]?,
    _ schedule: StrassenSchedule, _ kernels: any KernelTable.Type,
    to target: UnsafeMutablePointer<Float>
  ) {
    let channels = schedule.inputBlocks * schedule.block
    let halfOutputs = schedule.outputBlocks * schedule.block
    let width = schedule.blocks(ofPanel: panel) * schedule.block
    let first = panel * schedule.panelBlocks * schedule.block
    let floats = width * channels
    withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * 2 * channels) { rows in
      withUnsafeTemporaryAllocation(of: Float.self, capacity: StrassenPairs.products * floats) {
        factors in
        guard let row = rows.baseAddress, let factor = factors.baseAddress else { return }
        for column in 0..<width {
          // B₁₁ and B₂₁ belong to an output channel of the first half, B₁₂ and B₂₂ to one of the
          // second.
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
    for channel in 0..<channels {
      let b11 = rows[channel]
      let b21 = rows[channels &+ channel]
      let b12 = rows[2 &* channels &+ channel]
      let b22 = rows[3 &* channels &+ channel]
      let factor = factors + channel
      factor[0] = b11 + b22
      factor[stride] = b11
      factor[2 &* stride] = b12 - b22
      factor[3 &* stride] = b21 - b11
      factor[4 &* stride] = b22
      factor[5 &* stride] = b11 + b12
      factor[6 &* stride] = b21 + b22
    }
  }
}
