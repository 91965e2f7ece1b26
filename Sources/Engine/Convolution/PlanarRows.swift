import Kernels
import TensorCore

/// How a `PlanarConvolutionOperation` computes the rows of its result: one at a time from copies of
/// the input rows with a border of zeros, or in pairs from transforms of four such rows.
struct PlanarRows: Sendable {
  /// Result rows whose input is prepared at a time, few enough to stay in the first-level cache.
  let preparedRows: Int
  /// Result rows computed at a time.
  let rowsAtOnce: Int
  let weightFloats: Int
  /// Width of a prepared row.
  private let width: Int
  private let preparedStride: Int
  /// Start of the first prepared row; for pairs, chosen so that writing starts on a cache line.
  private let origin: Int
  private let planeRows: Int
  private let inputs: Int
  private let outputs: Int
  private let window: WindowGeometry
  private let kernels: any KernelTable.Type

  init(
    _ weights: ConvolutionWeights, _ window: WindowGeometry, width: Int,
    _ kernels: any KernelTable.Type, isPaired: Bool
  ) {
    preparedRows = isPaired ? 2 : 8
    rowsAtOnce = isPaired ? 2 : 1
    planeRows = isPaired ? 4 : preparedRows + window.extent(0) - 1
    let group = kernels.planarGroup(weights.outputs)
    let taps = (isPaired ? 4 : window.kernel[0]) * window.kernel[1]
    weightFloats = (weights.outputs + group - 1) / group * group * weights.inputs * taps
    self.width = width + window.extent(1) - 1
    let line = 16
    origin = isPaired ? (line - window.start[1] % line) % line : 0
    preparedStride = isPaired ? (origin + self.width + line - 1) / line * line : self.width
    inputs = weights.inputs
    outputs = weights.outputs
    self.window = window
    self.kernels = kernels
  }

  private var isPaired: Bool { rowsAtOnce == 2 }
  private var plane: Int { planeRows * preparedStride }
  /// Floats of the prepared rows.
  var floats: Int { inputs * plane }

  /// Packs weights for the kernel: per group of outputs, tap by tap, with the outputs of a tap
  /// adjacent.
  func packed(_ weights: ConvolutionWeights) throws -> [Float] {
    let group = kernels.planarGroup(outputs)
    let values = try weights.view(window, kernels).rowMajor()
    let size = values.count / outputs
    let taps = (0..<outputs).map { output in
      let kernel = values[output * size..<(output + 1) * size]
      let factor = weights.scale?[output] ?? 1
      return (isPaired ? transformed(Array(kernel)) : Array(kernel)).map { $0 * factor }
    }
    var packed: [Float] = []
    packed.reserveCapacity(weightFloats)
    for first in stride(from: 0, to: outputs, by: group) {
      for tap in taps[first].indices {
        packed += (first..<first + group).map { $0 < outputs ? taps[$0][tap] : 0 }
      }
    }
    return packed
  }

  /// For each column g₀, g₁, g₂ of a kernel, (g₀ ± g₁ + g₂) / 2; then, for each column, g₀ and g₂.
  private func transformed(_ kernel: [Float]) -> [Float] {
    let width = window.kernel[1]
    var sums: [Float] = []
    var ends: [Float] = []
    for index in 0..<inputs * width {
      let start = index / width * 3 * width + index % width
      let column = (0..<3).map { Double(kernel[start + $0 * width]) }
      let (g0, g1, g2) = (column[0], column[1], column[2])
      sums += [Float((g0 + g1 + g2) / 2), Float((g0 - g1 + g2) / 2)]
      ends += [Float(g0), Float(g2)]
    }
    return sums + ends
  }

  /// Clears everything that `prepare` never writes, before the first rows of a job.
  func clear(_ target: UnsafeMutablePointer<Float>) {
    if isPaired { target.update(repeating: 0, count: floats) }
  }

  /// Prepares the input of `rows` of the result; `zeros` are the rows above and below the planes.
  func prepare(
    _ rows: Range<Int>, _ image: UnsafePointer<Float>, _ layout: BlobLayout,
    zeros: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>
  ) {
    let (top, left) = (window.start[0], window.start[1])
    let used = min(layout.shape.width, width - left)
    if used <= 0 { return target.update(repeating: 0, count: floats) }
    func line(_ channel: Int, _ y: Int) -> UnsafePointer<Float> {
      y < 0 || y >= layout.shape.height
        ? zeros : image + channel * layout.planeStride + y * layout.rowStride
    }
    for channel in 0..<inputs {
      let first = target + (origin + channel * plane)
      if isPaired {
        let y = rows.lowerBound - top
        kernels.planarPairRows(
          PlanarPairRows(
            rows: InlineArray { line(channel, y + $0) },
            output: OutputView(first + left, Strides(row: preparedStride)), count: used,
            ahead: 2 * layout.rowStride))
        continue
      }
      for row in 0..<rows.count + window.extent(0) - 1 {
        let copy = first + row * preparedStride
        copy.update(repeating: 0, count: left)
        (copy + left).update(from: line(channel, rows.lowerBound - top + row), count: used)
        (copy + left + used).update(repeating: 0, count: width - left - used)
      }
    }
  }

  /// Computes rows of the result from the prepared ones; both are counted from the first one.
  func convolve(
    _ prepared: UnsafePointer<Float>, _ rows: Range<Int>, weights: UnsafePointer<Float>,
    bias: UnsafePointer<Float>, to output: OutputView
  ) {
    var arguments = ConvolutionArguments(
      input: InputView(
        prepared + (isPaired ? origin : rows.lowerBound * preparedStride),
        Strides(row: preparedStride, block: plane)), weights: weights, output: output,
      extent: Extent(blocks: outputs, rows: rows.count, width: width - window.extent(1) + 1))
    arguments.inputBlocks = inputs
    arguments.window = Window(height: window.kernel[0], width: window.kernel[1])
    arguments.window.dilationY = window.dilation[0]
    arguments.window.dilationX = window.dilation[1]
    arguments.epilogue.bias = bias
    if isPaired { kernels.planarPair(arguments) } else { kernels.planarConvolution(arguments) }
  }
}
