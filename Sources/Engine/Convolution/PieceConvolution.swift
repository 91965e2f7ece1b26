import Kernels
import TensorCore

/// A convolution with a large kernel, split into pieces of 3 × 3 taps: it transforms tiles of a
/// band of the input, convolves the tiles point by point, and transforms the result back.
struct PieceConvolutionOperation: NodeOperation {
  var weights: ConvolutionWeights
  var window: WindowGeometry

  var kind: String { "convolution" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    let halo = window.halo(input: shapes.inputs[0], output: shapes.outputs[0])
    let isPlanar = weights.inputs <= 8 && shapes.producedBlocks[0] != .blocked
    return LayoutPreferences(
      inputs: [LayoutPreference(block: isPlanar ? .planar : .blocked, halo: halo)],
      outputs: [.blocked])
  }

  func describe(_ context: StepContext) -> StepNote {
    let layout = context.inputs[0].layout
    let inputs = layout.channelBlocks * layout.block
    let outputs = context.outputs[0].layout.channelBlocks * context.channelBlock
    return StepNote(
      kernel: "\(window.kernel[0])×\(window.kernel[1]) in Winograd 3×3, 3×3"
        + weights.activation.label,
      weightBytes: Pieces.points * PieceGrid(window.kernel).count * inputs * outputs * 4)
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    let schedule = schedule(context)
    return context.threadCount * (schedule.transformedFloats + schedule.productFloats)
  }

  private func schedule(_ context: StepContext) -> PieceSchedule {
    PieceSchedule(
      from: context.inputs[0].layout, to: context.outputs[0].layout,
      grid: PieceGrid(window.kernel), threads: context.threadCount)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let scratch = context.scratch
    let kernels = context.kernels
    let schedule = schedule(context)
    let grid = schedule.grid
    let view = try PieceWeights.transformed(
      weights.view(window, kernels), scale: weights.scale, grid: grid)
    let channels = schedule.channels
    let packed = try view.packed(
      groups: Pieces.points, blockChannels: channels, panelBlocks: kernels.panelBlocks, context)
    let pointFloats = view.packedFloats(blockChannels: channels, block: context.channelBlock)
    let fused = try FusedEpilogue(
      bias: weights.bias, weights.activation, channels: to.channelBlocks * to.block)
    let start = window.origin(in: from)
    let kernel = window.kernel
    return { run in
      let source = UnsafePointer(run.pointer(input)) + start
      let target = run.pointer(output)
      let memory = run.pointer(scratch)
      let epilogue = fused.from()
      run.share(schedule.units.count, writing: output) { thread, units in
        let transformed =
          memory + thread * (schedule.transformedFloats + schedule.productFloats)
        let products = transformed + schedule.transformedFloats
        for index in units {
          let unit = schedule.units[index]
          let tiles = unit.columns.count
          for row in 0..<unit.rows.count + grid.down - 1 {
            let (y, x) = (3 * (unit.rows.lowerBound + row), 3 * unit.columns.lowerBound)
            kernels.pieceInput(
              tiles: tiles + grid.across - 1, blockChannels: from.block,
              rows: to.shape.height + kernel[0] - 1 - y,
              width: to.shape.width + kernel[1] - 1 - x,
              InputTransformArguments(
                input: InputView(
                  source + unit.image * from.imageStride + y * from.rowStride + x * from.block,
                  from.strides), blocks: 0..<from.channelBlocks,
                transformed: transformed + row * schedule.rowStride,
                transformedStrides: PointStrides(tile: channels, point: schedule.pointStride)))
          }
          for row in 0..<unit.rows.count {
            for point in 0..<Pieces.points {
              var arguments = ConvolutionArguments(
                input: InputView(
                  transformed + point * schedule.pointStride + row * schedule.rowStride,
                  Strides(pixel: channels, row: schedule.rowStride)),
                weights: packed.pointer + point * pointFloats,
                output: OutputView(
                  products + point * schedule.productPointStride,
                  Strides(pixel: to.block, block: tiles * to.block)),
                extent: Extent(blocks: to.channelBlocks, rows: 1, width: tiles))
              arguments.blockChannels = channels
              arguments.window = Window(height: grid.down, width: grid.across)
              kernels.convolution(arguments)
            }
            let (y, x) = (3 * (unit.rows.lowerBound + row), 3 * unit.columns.lowerBound)
            var results = PieceOutput(
              products: PointBuffer(products, stride: schedule.productPointStride), tiles: tiles,
              output: OutputView(
                target + to.origin + unit.image * to.imageStride + y * to.rowStride + x * to.block,
                to.strides),
              extent: Extent(
                blocks: to.channelBlocks, rows: to.shape.height - y, width: to.shape.width - x))
            results.blockStride = tiles * to.block
            results.epilogue = epilogue
            kernels.pieceOutput(results)
          }
        }
      }
    }
  }
}

/// The division of the tiles of a split convolution, and the working memory per thread. Bands of
/// rows by strips of columns are sized so that the transformed input of a band and the products of
/// one row of tiles both stay in the second-level cache.
struct PieceSchedule: Sendable {
  let grid: PieceGrid
  /// Channels of the input, padded to whole blocks.
  let channels: Int
  let units: PieceUnits
  /// Row stride of the transformed input.
  let rowStride: Int
  let pointStride: Int
  let productPointStride: Int

  private static let productBytes = 224 << 10
  private static let transformedBytes = 288 << 10

  init(from: BlobLayout, to: BlobLayout, grid: PieceGrid, threads: Int) {
    self.grid = grid
    channels = from.channelBlocks * from.block
    var units = PieceUnits(to.shape)
    let outputs = to.channelBlocks * to.block
    let tileBytes = Pieces.points * 4
    let widest = max(8, Self.productBytes / (tileBytes * outputs))
    let width = units.cutStrips(widest: widest)
    rowStride = (width + grid.across - 1) * channels
    let most = Self.transformedBytes / (tileBytes * rowStride) - (grid.down - 1)
    var height = max(1, min(most, 8, units.tileRows))
    // Makes enough units for threads to share evenly.
    units.cutBands(highest: height)
    while height > 2, units.count < 4 * threads {
      height = (height + 1) / 2
      units.cutBands(highest: height)
    }
    self.units = units
    pointStride = spreadStride((height + grid.down - 1) * rowStride)
    productPointStride = spreadStride(width * outputs)
  }

  var transformedFloats: Int { Pieces.points * pointStride }
  var productFloats: Int { Pieces.points * productPointStride }
}

/// The tiles of all output images, in bands of rows by strips of columns.
struct PieceUnits: Sendable {
  struct Unit {
    var image: Int
    /// Rows of tiles.
    var rows: Range<Int>
    var columns: Range<Int>
  }

  let images: Int
  let tileRows: Int
  let tileColumns: Int
  var bands = 1
  var strips = 1

  init(_ output: Shape) {
    images = output.images
    tileRows = (output.height + 2) / 3
    tileColumns = (output.width + 2) / 3
  }

  /// Cuts strips of at most `widest` tiles and returns the width of the widest strip.
  mutating func cutStrips(widest: Int) -> Int {
    strips = (tileColumns + widest - 1) / widest
    return (tileColumns + strips - 1) / strips
  }

  mutating func cutBands(highest: Int) { bands = (tileRows + highest - 1) / highest }

  var count: Int { images * bands * strips }

  subscript(index: Int) -> Unit {
    Unit(
      image: index / (bands * strips),
      rows: ThreadPool.share(of: tileRows, index / strips % bands, bands),
      columns: ThreadPool.share(of: tileColumns, index % strips, strips))
  }
}
