import Kernels
import TensorCore

/// A 3 × 3 convolution over an input enlarged twofold by repetition, as four convolutions at the
/// low resolution that share one transform of the input; see `UpsampledTiles`.
struct UpsampledConvolutionOperation: NodeOperation {
  var weights: ConvolutionWeights
  var window: WindowGeometry

  var kind: String { "upsampled convolution" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    LayoutPreferences(inputs: [.blocked], outputs: [.blocked])
  }

  func describe(_ context: StepContext) -> StepNote {
    let schedule = UpsampledSchedule(context)
    return StepNote(
      kernel: "upsampled, Winograd 5×5, 2×2" + weights.activation.label,
      weightBytes: UpsampledTiles.points * schedule.pointWeights * 4)
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    context.threadCount * UpsampledSchedule(context).threadFloats
  }

  private static let transform: [[Double]] = [
    [1, 0], [1 / 3, 1 / 3], [-1 / 3, 1 / 3], [-16 / 15, -8 / 15], [1 / 15, -2 / 15], [0, 1],
  ]

  /// `G g Gᵀ` of all phases as `[point][phase][output][input]`, with outputs padded to whole
  /// blocks, computed in double precision and rounded once.
  private func transformed(
    _ schedule: UpsampledSchedule, _ kernels: any KernelTable.Type
  ) throws -> [Float] {
    let view = try weights.view(window, kernels)
    let (inputs, outputs) = (view.inputChannels, view.outputChannels)
    let phaseStride = schedule.phaseOutputs * inputs
    let pointStride = UpsampledTiles.phases * phaseStride
    var values = [Float](repeating: 0, count: UpsampledTiles.points * pointStride)
    view.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      for output in 0..<outputs {
        let factor = weights.scale.map { Double($0[output]) } ?? 1
        for input in 0..<inputs {
          var g = InlineArray<9, Double>(repeating: 0)
          for y in 0..<3 {
            for x in 0..<3 { g[3 * y + x] = Double(view.value(base, output, input, y, x)) * factor }
          }
          for phase in 0..<UpsampledTiles.phases {
            // The taps that read the first and the second row and column of the phase.
            let rows = phase / 2 == 0 ? [0..<1, 1..<3] : [0..<2, 2..<3]
            let columns = phase % 2 == 0 ? [0..<1, 1..<3] : [0..<2, 2..<3]
            var small = InlineArray<4, Double>(repeating: 0)
            for a in 0..<2 {
              for b in 0..<2 {
                for y in rows[a] { for x in columns[b] { small[2 * a + b] += g[3 * y + x] } }
              }
            }
            let target = phase * phaseStride + output * inputs + input
            for p in 0..<6 {
              let row = Self.transform[p]
              let first = row[0] * small[0] + row[1] * small[2]
              let second = row[0] * small[1] + row[1] * small[3]
              for q in 0..<6 {
                let column = Self.transform[q]
                values[(6 * p + q) * pointStride + target] = Float(
                  first * column[0] + second * column[1])
              }
            }
          }
        }
      }
    }
    return values
  }

  private func packed(_ schedule: UpsampledSchedule, _ context: StepContext) throws -> Constant {
    let outputs = UpsampledTiles.phases * schedule.phaseOutputs
    let view = WeightView(
      bytes: Bytes(try transformed(schedule, context.kernels)),
      layout: WeightLayout(outputChannels: outputs, inputChannels: weights.inputs),
      groupStride: outputs * weights.inputs)
    return try view.packed(
      groups: UpsampledTiles.points, blockChannels: schedule.channels,
      panelBlocks: context.kernels.panelBlocks, context)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let scratch = context.scratch
    let kernels = context.kernels
    let schedule = UpsampledSchedule(context)
    let packed = try packed(schedule, context)
    let padded = schedule.phaseOutputs
    let epilogue = try FusedEpilogue(bias: weights.bias, weights.activation, channels: padded)
    let block = to.block
    let phaseBlocks = padded / block
    return { run in
      let source = UnsafePointer(run.pointer(input)) + from.origin
      let target = run.pointer(output)
      let memory = run.pointer(scratch)
      run.share(to.shape.images * schedule.batches, writing: output) { thread, units in
        let transformed = memory + thread * schedule.threadFloats
        let products = transformed + UpsampledTiles.points * schedule.transformedStride
        for unit in units {
          let (image, batch) = unit.quotientAndRemainder(dividingBy: schedule.batches)
          let share = ThreadPool.share(of: schedule.tiles, batch, schedule.batches)
          let tiles = UpsampledTiles(
            rows: from.shape.height, width: from.shape.width, first: share.lowerBound,
            count: share.count)
          kernels.upsampledInput(
            tiles,
            InputTransformArguments(
              input: InputView(source + image * from.imageStride, from.strides),
              blocks: 0..<from.channelBlocks, transformed: transformed,
              transformedStrides: PointStrides(
                tile: schedule.tileStride, point: schedule.transformedStride)))
          var first = 0
          while first < UpsampledTiles.phases * phaseBlocks {
            let blocks = min(schedule.blocksAtOnce, UpsampledTiles.phases * phaseBlocks - first)
            for point in 0..<UpsampledTiles.points {
              var arguments = ConvolutionArguments(
                input: InputView(
                  transformed + point * schedule.transformedStride,
                  Strides(pixel: schedule.tileStride)),
                weights: packed.pointer + point * schedule.pointWeights
                  + first * block * schedule.channels,
                output: OutputView(
                  products + point * schedule.productStride,
                  Strides(pixel: block, block: share.count * block)),
                extent: Extent(blocks: blocks, rows: 1, width: share.count))
              arguments.blockChannels = schedule.channels
              kernels.convolution(arguments)
            }
            for index in 0..<blocks {
              let (phase, plane) = (first + index).quotientAndRemainder(dividingBy: phaseBlocks)
              kernels.upsampledOutput(
                UpsampledOutput(
                  tiles: tiles, phase: phase,
                  products: PointBuffer(
                    products + index * share.count * block, stride: schedule.productStride),
                  output: OutputView(
                    target + to.origin + image * to.imageStride + plane * to.planeStride,
                    to.strides), epilogue: epilogue.from(plane * block)))
            }
            first += blocks
          }
        }
      }
    }
  }
}

/// Batches of tiles whose transformed input and products, for the channel blocks computed at once,
/// fit the second-level cache.
private struct UpsampledSchedule: Sendable {
  /// Channels of the input, padded to whole blocks.
  let channels: Int
  /// Output channels of a phase, padded to whole blocks.
  let phaseOutputs: Int
  let tiles: Int
  let batches: Int
  let blocksAtOnce: Int
  let tileStride: Int
  let transformedStride: Int
  let productStride: Int
  private static let transformedBytes = 384 << 10
  private static let productBytes = 192 << 10

  init(_ context: StepContext) {
    let from = context.inputs[0].layout
    let to = context.outputs[0].layout
    let block = context.channelBlock
    channels = from.channelBlocks * block
    phaseOutputs = to.channelBlocks * block
    tiles = UpsampledTiles.across(from.shape.height) * UpsampledTiles.across(from.shape.width)
    tileStride = channels + 16
    let step = context.kernels.pixelTile
    let pointBytes = UpsampledTiles.points * 4
    let most = max(step, Self.transformedBytes / (pointBytes * tileStride) / step * step)
    let wanted = (tiles + most - 1) / most
    let threads = context.threadCount
    batches = max(1, min(tiles, (wanted + threads - 1) / threads * threads))
    let width = (tiles + batches - 1) / batches
    let panel = context.kernels.panelBlocks
    blocksAtOnce = max(1, Self.productBytes / (pointBytes * width * block) / panel) * panel
    transformedStride = spreadStride(width * tileStride)
    productStride = spreadStride(min(blocksAtOnce, 4 * phaseOutputs / block) * width * block)
  }

  /// Floats of packed weights per point.
  var pointWeights: Int { UpsampledTiles.phases * phaseOutputs * channels }
  var threadFloats: Int { UpsampledTiles.points * (transformedStride + productStride) }
}
