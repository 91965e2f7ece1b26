import Kernels
import TensorCore

/// A convolution with few channels on both sides, row by row from planes to planes. Functions of an
/// element follow while the row is in the nearest cache; so does the average of each plane, where
/// only that is wanted, and then no row is ever written out.
struct PlanarConvolutionOperation: Operation {
  var weights: ConvolutionWeights
  var window: WindowGeometry
  /// Of the convolution's result.
  var rows: Int
  var width: Int
  var functions: [ElementFunction] = []
  var isAveraged = false

  var kind: String { "convolution" }

  private func result(_ shapes: NodeShapes) -> Shape {
    var shape = shapes.outputs[0]
    shape.height = rows
    shape.width = width
    return shape
  }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes {
    let halo = window.halo(input: shapes.inputs[0], output: result(shapes))
    return LayoutWishes(inputs: [LayoutWish(block: .planar, halo: halo)], outputs: [.planar])
  }

  func multiplyAdds(_ shapes: NodeShapes) -> Int {
    result(shapes).count * weights.inputs * window.kernel[0] * window.kernel[1]
  }

  func describe(_ context: StepContext) -> StepNote {
    StepNote(
      kernel: "planar \(window.kernel[0])×\(window.kernel[1])" + RowFunctions.label(functions)
        + (isAveraged ? " + average" : ""),
      weightBytes: packedWeights().count * 4)
  }

  /// Rows that are averaged before their sum is added to others': the same for any number of
  /// threads.
  private static let bandRows = 16

  private var bands: Int { (rows + Self.bandRows - 1) / Self.bandRows }
  private var rowFloats: Int { weights.outputs * width }

  func scratchFloats(_ context: StepContext) throws -> Int {
    isAveraged
      ? (context.inputs[0].layout.shape.images * bands + context.threadCount) * rowFloats : 0
  }

  /// `[output / g][input][row][column][output % g]`, as the kernel wants them.
  private func packedWeights() -> [Float] {
    let group = PlanarConvolutionArguments.channelsAtOnce(weights.outputs)
    let values = weights.view(window).rowMajor()
    let taps = weights.inputs * window.kernel[0] * window.kernel[1]
    var packed: [Float] = []
    for first in stride(from: 0, to: weights.outputs, by: group) {
      for tap in 0..<taps {
        for output in first..<first + group {
          let isUsed = output < weights.outputs
          packed.append(
            isUsed ? values[output * taps + tap] * (weights.scale?[output] ?? 1) : 0)
        }
      }
    }
    return packed
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let from = input.layout
    let to = output.layout
    let kernels = context.kernels
    let outputs = weights.outputs
    let packed = try Constant(packedWeights())
    let bias = try Constant(weights.bias ?? [Float](repeating: 0, count: outputs))
    let start = from.origin - window.start[0] * from.rowStride - window.start[1]
    let functions = RowFunctions(functions, kernels)
    let (rows, width) = (rows, width)
    let arguments = PlanarConvolutionArguments(
      input: packed.pointer, inputRowStride: from.rowStride, inputPlaneStride: from.planeStride,
      inputs: weights.inputs, weights: packed.pointer, kernelHeight: window.kernel[0],
      kernelWidth: window.kernel[1], dilationY: window.dilation[0], dilationX: window.dilation[1],
      output: UnsafeMutablePointer(mutating: packed.pointer), outputRowStride: to.rowStride,
      outputPlaneStride: to.planeStride, outputs: outputs, rows: 1, width: width,
      bias: bias.pointer)
    /// Convolution and functions of one row.
    @Sendable func compute(
      _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, planeStride: Int
    ) {
      withExtendedLifetime((packed, bias)) {
        var arguments = arguments
        arguments.input = from
        arguments.output = to
        arguments.outputPlaneStride = planeStride
        kernels.planarConvolution(arguments)
        functions.apply(to, count: width, channels: outputs, planeStride: planeStride)
      }
    }
    if !isAveraged {
      let bands = max(1, min(rows, max(context.threadCount * 4, rows / 8)))
      return { run in
        let source = UnsafePointer(run.pointer(input)) + start
        let target = run.pointer(output) + to.origin
        run.parallel(to.shape.images * bands, writing: output) { unit in
          let image = unit / bands
          for row in ThreadPool.share(of: rows, unit % bands, bands) {
            compute(
              source + image * from.imageStride + row * from.rowStride,
              target + image * to.imageStride + row * to.rowStride, planeStride: to.planeStride)
          }
        }
      }
    }
    let scratch = context.scratch
    let (bands, rowFloats) = (bands, rowFloats)
    let images = from.shape.images
    return { run in
      let source = UnsafePointer(run.pointer(input)) + start
      let target = run.pointer(output) + to.origin
      let sums = run.pointer(scratch)
      if to.halo != .none { run.parallel(0, writing: output) { _ in } }
      run.pool.onEveryThread { thread, threads in
        let line = sums + (images * bands + thread) * rowFloats
        for unit in ThreadPool.share(of: images * bands, thread, threads) {
          let first = unit % bands * Self.bandRows
          let image = source + unit / bands * from.imageStride
          let sum = sums + unit * rowFloats
          compute(image + first * from.rowStride, sum, planeStride: width)
          for row in first + 1..<min(rows, first + Self.bandRows) {
            compute(image + row * from.rowStride, line, planeStride: width)
            kernels.add(line, to: sum, count: rowFloats)
          }
        }
      }
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

extension KernelTable {
  fileprivate func add(
    _ values: UnsafeMutablePointer<Float>, to sum: UnsafeMutablePointer<Float>, count: Int
  ) {
    withUnsafeTemporaryAllocation(of: CombiningOperand.self, capacity: 2) { operands in
      guard let first = operands.baseAddress else { return }
      first.initialize(to: CombiningOperand(sum))
      (first + 1).initialize(to: CombiningOperand(values))
      combine(
        CombiningArguments(
          function: .add, operands: first, operandCount: 2, output: sum, count: count))
    }
  }
}
