import Kernels
import TensorCore
import TestSupport

/// Every instruction set that this machine can run.
let availableSets = InstructionSet.allCases.filter(\.isAvailable)

/// Values `[channel][row][column]` in channel blocks with a border of `halo` pixels of `padding`.
struct BlockedPlanes {
  let channels: Int
  let rows: Int
  let width: Int
  let halo: Int
  let block: Int
  var blocks: Int { (channels + block - 1) / block }
  var rowStride: Int { (width + 2 * halo) * block }
  var blockStride: Int { (rows + 2 * halo) * rowStride }
  var count: Int { blocks * blockStride }
  var strides: Strides {
    Strides(pixel: block, row: rowStride, block: blockStride, image: count)
  }
  var extent: Extent { Extent(blocks: blocks, rows: rows, width: width) }
  /// The offset of pixel (0, 0), inside the border.
  var origin: Int { halo * rowStride + halo * block }

  func index(_ channel: Int, _ row: Int, _ column: Int) -> Int {
    origin + channel / block * blockStride + row * rowStride + column * block + channel % block
  }

  func blocked(_ planar: [Float], padding: Float = 0) -> [Float] {
    var result = [Float](repeating: padding, count: count)
    for c in 0..<channels {
      for y in 0..<rows {
        for x in 0..<width { result[index(c, y, x)] = planar[(c * rows + y) * width + x] }
      }
    }
    return result
  }

  func planar(_ blocked: [Float]) -> [Float] {
    var result = [Float]()
    for c in 0..<channels {
      for y in 0..<rows { for x in 0..<width { result.append(blocked[index(c, y, x)]) } }
    }
    return result
  }
}

extension WeightFormat {
  var isSingle: Bool { if case .float32 = self { true } else { false } }
}

// Initializers for whatever a test varies.

extension ConvolutionArguments {
  init(
    input: InputView, inputBlocks: Int = 1, blockChannels: Int = 1, weights: UnsafePointer<Float>,
    window: Window = Window(), output: OutputView, extent: Extent, epilogue: Epilogue
  ) {
    self.init(input: input, weights: weights, output: output, extent: extent)
    self.inputBlocks = inputBlocks
    self.blockChannels = blockChannels
    self.window = window
    self.epilogue = epilogue
  }
}

extension DenseArguments {
  init(
    weights: WeightRows, rows: Int, columns: Int, input: InputView, batch: Int, output: OutputView,
    epilogue: Epilogue = Epilogue()
  ) {
    self.init(weights: weights, rows: rows, columns: columns, input: input, output: output)
    self.batch = batch
    self.epilogue = epilogue
  }
}

extension WinogradOutputArguments {
  init(
    transformed: TransformedTiles, panels: WinogradPanels, products: PointBuffer,
    output: OutputView, outputBlocks: Int, epilogue: Epilogue
  ) {
    self.init(
      transformed: transformed, panels: panels, products: products, output: output,
      outputBlocks: outputBlocks)
    self.epilogue = epilogue
  }
}

extension RowCombination {
  init(
    rows: InputView, factors: UnsafePointer<Float>, count: Int, columns: Int,
    output: UnsafeMutablePointer<Float>, accumulates: Bool
  ) {
    self.init(rows: rows, factors: factors, count: count, columns: columns, output: output)
    self.accumulates = accumulates
  }
}

extension LayoutArguments {
  init(
    input: InputView, output: OutputView, extent: Extent, scale: UnsafePointer<Float>,
    bias: UnsafePointer<Float>
  ) {
    self.init(input: input, output: output, extent: extent)
    self.scale = scale
    self.bias = bias
  }
}

extension PieceOutput {
  init(
    products: PointBuffer, blockStride: Int = 0, tiles: Int, output: OutputView, extent: Extent,
    epilogue: Epilogue
  ) {
    self.init(products: products, tiles: tiles, output: output, extent: extent)
    self.blockStride = blockStride
    self.epilogue = epilogue
  }
}

extension PieceSums {
  init(
    products: InputView, channels: Int, tiles: Int, pieces: Int, sums: UnsafeMutablePointer<Float>,
    accumulates: Bool
  ) {
    self.init(products: products, channels: channels, tiles: tiles, pieces: pieces, sums: sums)
    self.accumulates = accumulates
  }
}
