import Kernels
import TensorCore

/// scale · a · b for pairs of matrices from two arrays. The elements in a row of `a`, and of the
/// result, are adjacent.
struct MatrixProductOperation: NodeOperation {
  /// Sizes of the batch; empty for a single product.
  var batch: [Int]
  var rows: Int
  var depth: Int
  var columns: Int
  var scale: Float = 1
  var a: MatrixWalk
  var b: MatrixWalk
  var output: MatrixWalk

  var kind: String { "matrix product" }
  var sumsProducts: Bool { true }

  /// Floats of `b` to pack at a time, so that they stay in the second-level cache.
  private static let packedFloats = 64 << 10

  /// Columns of `b` to pack at a time, in whole panels.
  private func part(_ kernels: any KernelTable.Type) -> Int {
    let panel = kernels.panelBlocks * kernels.channelBlock
    let most = max(panel, Self.packedFloats / depth / panel * panel)
    return min(most, (columns + panel - 1) / panel * panel)
  }

  private func floatsOfThread(_ kernels: any KernelTable.Type) -> Int {
    part(kernels) * (depth + kernels.productBand)
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    try checkedProduct([context.threadCount, floatsOfThread(context.kernels)])
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let part = part(context.kernels)
    let parts = (columns + part - 1) / part
    let whole = PanelFactor(depth: depth, columns: min(part, columns), context.kernels)
    let last = PanelFactor(depth: depth, columns: columns - (parts - 1) * part, context.kernels)
    let band = context.kernels.productBand
    let bands = (rows + band - 1) / band
    let floats = floatsOfThread(context.kernels)
    let (left, right) = (context.inputs[0], context.inputs[1])
    let (result, scratch) = (context.outputs[0], context.scratch)
    let starts = (a: a.starts(batch), b: b.starts(batch), output: output.starts(batch))
    let operation = self
    return { run in
      let (lefts, rights) = (run.pointer(left), run.pointer(right))
      let (results, memory) = (run.pointer(result), run.pointer(scratch))
      run.pool.share(starts.a.count * parts * bands) { thread, units in
        let packed = memory + thread * floats
        var present: Int?
        for unit in units {
          let (matrix, index) = (unit / bands).quotientAndRemainder(dividingBy: parts)
          let column = index * part
          let first = unit % bands * band
          let factor = index == parts - 1 ? last : whole
          if unit / bands != present {
            factor.pack(
              rights + (starts.b[matrix] + column * operation.b.column), row: operation.b.row,
              column: operation.b.column, scale: operation.scale, to: packed)
            present = unit / bands
          }
          factor.multiply(
            InputView(
              lefts + (starts.a[matrix] + first * operation.a.row), Strides(pixel: operation.a.row)),
            count: min(band, operation.rows - first), by: packed,
            to: OutputView(
              results + (starts.output[matrix] + first * operation.output.row + column),
              Strides(pixel: operation.output.row)), strip: packed + part * operation.depth)
        }
      }
    }
  }
}
