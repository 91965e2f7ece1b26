import Kernels
import TensorCore

/// A convolution with a large kernel and few output channels, split into pieces of 3 × 3 taps. One
/// matrix product per point computes the output channels of all pieces, which are summed before the
/// transform back. Element functions follow, row by row.
struct PieceSumConvolutionOperation: NodeOperation {
  var weights: ConvolutionWeights
  var window: WindowGeometry
  var functions: [ScaledFunction] = []

  static let mostOutputs = Pieces.sumChannels

  var kind: String { "convolution" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    let halo = window.halo(input: shapes.inputs[0], output: shapes.outputs[0])
    return LayoutPreferences(
      inputs: [LayoutPreference(block: .blocked, halo: halo)], outputs: [.planar])
  }

  func describe(_ context: StepContext) -> StepNote {
    let layout = context.inputs[0].layout
    let schedule = PieceSumSchedule(self, context)
    return StepNote(
      kernel: "\(window.kernel[0])×\(window.kernel[1]) in Winograd 3×3, 3×3"
        + RowFunctions.label(functions),
      weightBytes: Pieces.points * layout.channelBlocks * layout.block * schedule.columns * 4)
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    context.threadCount * PieceSumSchedule(self, context).threadFloats
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let scratch = context.scratch
    let kernels = context.kernels
    let schedule = PieceSumSchedule(self, context)
    let grid = schedule.grid
    let outputs = weights.outputs
    let channels = from.channelBlocks * from.block
    var view = try PieceWeights.transformed(
      weights.view(window, kernels), scale: weights.scale, grid: grid,
      padding: Pieces.sumChannels - outputs)
    // The output channels of all pieces, side by side.
    view.outputChannels = view.groupStride / view.inputChannels
    view.kernelHeight = 1
    view.kernelWidth = 1
    let packed = try view.packed(
      groups: Pieces.points, blockChannels: channels, panelBlocks: kernels.panelBlocks, context)
    let pointFloats = view.packedFloats(blockChannels: channels, block: context.channelBlock)
    let bias = try Constant(
      (0..<Pieces.sumChannels).map { $0 < outputs ? weights.bias?[$0] ?? 0 : 0 })
    let start = window.origin(in: from)
    let kernel = window.kernel
    let block = context.channelBlock
    let functions = RowFunctions(functions, kernels)
    return { run in
      let source = UnsafePointer(run.pointer(input)) + start
      let target = run.pointer(output) + to.origin
      let memory = run.pointer(scratch)
      run.share(schedule.units.count, writing: output) { thread, units in
        let transformed = memory + thread * schedule.threadFloats
        let products = transformed + Pieces.points * schedule.pointStride
        let sums = products + schedule.productFloats
        for index in units {
          let unit = schedule.units[index]
          let tiles = unit.columns.count
          let x = 3 * unit.columns.lowerBound
          for row in unit.rows.lowerBound..<unit.rows.upperBound + grid.down - 1 {
            kernels.pieceInput(
              tiles: tiles + grid.across - 1, blockChannels: from.block,
              rows: to.shape.height + kernel[0] - 1 - 3 * row,
              width: to.shape.width + kernel[1] - 1 - x,
              InputTransformArguments(
                input: InputView(
                  source + unit.image * from.imageStride + 3 * row * from.rowStride
                    + x * from.block, from.strides), blocks: 0..<from.channelBlocks,
                transformed: transformed,
                transformedStrides: PointStrides(tile: channels, point: schedule.pointStride)))
            for point in 0..<Pieces.points {
              var arguments = ConvolutionArguments(
                input: InputView(
                  transformed + point * schedule.pointStride, Strides(pixel: channels)),
                weights: packed.pointer + point * pointFloats,
                output: OutputView(products, Strides(pixel: schedule.columns, block: block)),
                extent: Extent(
                  blocks: schedule.columns / block, rows: 1, width: tiles + grid.across - 1))
              arguments.blockChannels = channels
              kernels.convolution(arguments)
              for piece in 0..<grid.down where unit.rows.contains(row - piece) {
                var pieces = PieceSums(
                  products: InputView(
                    products + piece * grid.across * outputs, Strides(pixel: schedule.columns)),
                  channels: outputs, tiles: tiles, pieces: grid.across,
                  sums: sums
                    + ((row - piece) % grid.down * Pieces.points + point) * schedule.sumStride)
                pieces.accumulates = piece > 0
                kernels.pieceSums(pieces)
              }
            }
            let done = row - (grid.down - 1)
            guard done >= unit.rows.lowerBound else { continue }
            let corner = target + unit.image * to.imageStride + 3 * done * to.rowStride + x
            let rows = min(3, to.shape.height - 3 * done)
            let width = min(3 * tiles, to.shape.width - x)
            var results = PieceOutput(
              products: PointBuffer(
                sums + done % grid.down * Pieces.points * schedule.sumStride,
                stride: schedule.sumStride), tiles: tiles,
              output: OutputView(corner, to.strides),
              extent: Extent(blocks: outputs, rows: rows, width: width))
            results.epilogue.bias = bias.pointer
            kernels.pieceSumOutput(results)
            for y in 0..<rows {
              functions.apply(
                corner + y * to.rowStride, count: width, channels: outputs,
                planeStride: to.planeStride)
            }
          }
        }
      }
    }
  }
}

/// Bands of rows of tiles by strips of columns, sized so that the transformed input of one row
/// stays in the second-level cache. Each band recomputes the rows of pieces before its first row,
/// so there are at most as many bands as threads.
private struct PieceSumSchedule: Sendable {
  let grid: PieceGrid
  let units: PieceUnits
  /// Output channels of all pieces, padded to whole blocks.
  let columns: Int
  let pointStride: Int
  let productFloats: Int
  let sumStride: Int

  private static let transformedBytes = 384 << 10

  init(_ operation: PieceSumConvolutionOperation, _ context: StepContext) {
    let from = context.inputs[0].layout
    let to = context.outputs[0].layout
    let block = context.channelBlock
    grid = PieceGrid(operation.window.kernel)
    var units = PieceUnits(to.shape)
    let channels = from.channelBlocks * from.block
    let outputs = operation.weights.outputs
    columns = (grid.count * outputs + Pieces.sumChannels - outputs + block - 1) / block * block
    let widest = max(8, Self.transformedBytes / (Pieces.points * channels * 4) - grid.across + 1)
    let width = units.cutStrips(widest: widest)
    units.bands = max(1, min(context.threadCount, units.tileRows / (4 * grid.down)))
    self.units = units
    pointStride = spreadStride((width + grid.across - 1) * channels)
    productFloats = (width + grid.across - 1) * columns
    sumStride = (width + 3) / 4 * 4 * Pieces.sumChannels + 16
  }

  var threadFloats: Int {
    Pieces.points * pointStride + productFloats + grid.down * Pieces.points * sumStride
  }
}
