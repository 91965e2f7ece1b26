import Kernels
import TensorCore

/// A convolution with few input and output channels, row by row from planes to planes. Element
/// functions run while the row is in the first-level cache. If only the average of each plane is
/// needed, no row is ever stored.
struct PlanarConvolutionOperation: NodeOperation {
  var weights: ConvolutionWeights
  var window: WindowGeometry
  /// Whether rows are computed in pairs.
  var isPaired: Bool
  /// Rows of the convolution's result.
  var rows: Int
  var width: Int
  var functions: [ScaledFunction] = []
  var isAveraged = false

  var kind: String { "convolution" }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    LayoutPreferences(inputs: [.dense], outputs: [.planar])
  }

  var borrowableInputs: Int { 1 }

  func describe(_ context: StepContext) -> StepNote {
    StepNote(
      kernel: "planar \(window.kernel[0])×\(window.kernel[1])" + RowFunctions.label(functions)
        + (isAveraged ? " + average" : ""), weightBytes: planarRows(context).weightFloats * 4)
  }

  /// Rows to sum before adding to the total; independent of the number of threads.
  private static let bandRows = 16

  private var bands: Int { (rows + Self.bandRows - 1) / Self.bandRows }
  private var rowFloats: Int { weights.outputs * width }

  private func planarRows(_ context: StepContext) -> PlanarRows {
    PlanarRows(weights, window, width: width, context.kernels, isPaired: isPaired)
  }

  /// Floats per thread: prepared rows, and the result rows to average.
  private func threadFloats(_ planarRows: PlanarRows) -> Int {
    planarRows.floats + planarRows.rowsAtOnce * rowFloats
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    let images = context.inputs[0].layout.shape.images
    return context.threadCount * threadFloats(planarRows(context))
      + (isAveraged ? images * bands * rowFloats : 0)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let scratch = context.scratch
    let kernels = context.kernels
    let outputs = weights.outputs
    let planarRows = planarRows(context)
    let packed = try Constant(try planarRows.packed(weights))
    let bias = try Constant(weights.bias ?? [Float](repeating: 0, count: outputs))
    let zeros = try Constant([Float](repeating: 0, count: from.shape.width))
    let functions = RowFunctions(functions, kernels)
    let (rows, width, bands, rowFloats) = (rows, width, bands, rowFloats)
    let threadFloats = threadFloats(planarRows)
    let isAveraged = isAveraged

    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output) + to.origin
      let memory = run.pointer(scratch)
      let sums = memory + run.pool.threadCount * threadFloats
      let images = from.shape.images
      run.share(images * bands, writing: output) { thread, units in
        let prepared = memory + thread * threadFloats
        let lines = prepared + planarRows.floats
        planarRows.clear(prepared)
        for unit in units {
          let (image, band) = unit.quotientAndRemainder(dividingBy: bands)
          let end = min(rows, (band + 1) * Self.bandRows)
          if isAveraged { (sums + unit * rowFloats).update(repeating: 0, count: rowFloats) }
          for first in stride(from: band * Self.bandRows, to: end, by: planarRows.preparedRows) {
            let part = first..<min(end, first + planarRows.preparedRows)
            planarRows.prepare(
              part, source + image * from.imageStride, from, zeros: zeros.pointer, prepared)
            for row in stride(from: first, to: part.upperBound, by: planarRows.rowsAtOnce) {
              let count = min(planarRows.rowsAtOnce, part.upperBound - row)
              let result =
                isAveraged ? lines : target + image * to.imageStride + row * to.rowStride
              let rowStride = isAveraged ? rowFloats : to.rowStride
              let planeStride = isAveraged ? width : to.planeStride
              planarRows.convolve(
                prepared, row - first..<row - first + count, weights: packed.pointer,
                bias: bias.pointer,
                to: OutputView(result, Strides(row: rowStride, block: planeStride)))
              for line in 0..<count {
                let row = result + line * rowStride
                if isAveraged {
                  functions.add(row, to: sums + unit * rowFloats, count: width, channels: outputs)
                } else {
                  functions.apply(row, count: width, channels: outputs, planeStride: planeStride)
                }
              }
            }
          }
        }
      }
      if !isAveraged { return }
      for plane in 0..<images * outputs {
        let (image, channel) = plane.quotientAndRemainder(dividingBy: outputs)
        var total = 0.0
        for band in 0..<bands {
          total += kernels.sum(
            .sum, sums + (image * bands + band) * rowFloats + channel * width, width)
        }
        target[image * to.imageStride + channel * to.planeStride] = Float(
          total / Double(rows * width))
      }
    }
  }
}
