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
    shapes.outputs[0].resized(height: rows, width: width)
  }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutWishes {
    LayoutWishes(inputs: [.dense], outputs: [.planar])
  }

  var takesBorrowedInput: Bool { true }

  func multiplyAdds(_ shapes: NodeShapes) -> Int {
    result(shapes).count * weights.inputs * window.kernel[0] * window.kernel[1]
  }

  func describe(_ context: StepContext) -> StepNote {
    StepNote(
      kernel: "planar \(window.kernel[0])×\(window.kernel[1])" + RowFunctions.label(functions)
        + (isAveraged ? " + average" : ""),
      weightBytes: packedFloats(context.kernels) * 4)
  }

  /// Rows that are summed before their sum is added to others': the same for any number of threads.
  private static let bandRows = 16
  /// Rows whose input is copied at once, such that it stays in the nearest cache.
  private static let copiedRows = 8

  private var bands: Int { (rows + Self.bandRows - 1) / Self.bandRows }
  private var rowFloats: Int { weights.outputs * width }
  private var copiedWidth: Int { width + window.extent(1) - 1 }
  private var copiedFloats: Int {
    weights.inputs * (Self.copiedRows + window.extent(0) - 1) * copiedWidth
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    let images = context.inputs[0].layout.shape.images
    return context.threadCount * (copiedFloats + rowFloats)
      + (isAveraged ? images * bands * rowFloats : 0)
  }

  private func packedFloats(_ kernels: KernelTable) -> Int {
    let group = kernels.planarGroup(weights.outputs)
    return (weights.outputs + group - 1) / group * group * weights.inputs * window.kernel[0]
      * window.kernel[1]
  }

  /// `[output / g][input][row][column][output % g]`, as the kernel wants them.
  private func packedWeights(_ kernels: KernelTable) throws -> [Float] {
    let group = kernels.planarGroup(weights.outputs)
    let values = try weights.view(window, kernels).rowMajor()
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
    let scratch = context.scratch
    let kernels = context.kernels
    let outputs = weights.outputs
    let packed = try Constant(try packedWeights(kernels))
    let bias = try Constant(weights.bias ?? [Float](repeating: 0, count: outputs))
    let functions = RowFunctions(functions, kernels)
    let (rows, width, bands) = (rows, width, bands)
    let (copiedFloats, rowFloats, copiedWidth) = (copiedFloats, rowFloats, copiedWidth)
    let copiedPlane = copiedFloats / weights.inputs
    let halo = window.extent(0) - 1
    let (top, left) = (window.start[0], window.start[1])
    let window = window
    let inputs = weights.inputs
    let isAveraged = isAveraged

    /// The input of some rows of the output, with its border of zeros.
    @Sendable func copy(
      _ rows: Range<Int>, _ image: UnsafePointer<Float>, _ target: UnsafeMutablePointer<Float>
    ) {
      let used = min(from.shape.width, copiedWidth - left)
      for channel in 0..<inputs {
        var line = target + channel * copiedPlane
        for y in rows.lowerBound - top..<rows.upperBound - top + halo {
          if y < 0 || y >= from.shape.height || used <= 0 {
            line.update(repeating: 0, count: copiedWidth)
          } else {
            line.update(repeating: 0, count: left)
            (line + left).update(
              from: image + channel * from.planeStride + y * from.rowStride, count: used)
            (line + left + used).update(repeating: 0, count: copiedWidth - left - used)
          }
          line += copiedWidth
        }
      }
    }

    @Sendable func convolve(
      _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>, planeStride: Int
    ) {
      kernels.planarConvolution(
        PlanarConvolutionArguments(
          input: from, inputRowStride: copiedWidth, inputPlaneStride: copiedPlane, inputs: inputs,
          weights: packed.pointer, kernelHeight: window.kernel[0], kernelWidth: window.kernel[1],
          dilationY: window.dilation[0], dilationX: window.dilation[1], output: to,
          outputRowStride: 0, outputPlaneStride: planeStride, outputs: outputs, rows: 1,
          width: width, bias: bias.pointer))
    }

    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output) + to.origin
      let memory = run.pointer(scratch)
      let sums = memory + run.pool.threadCount * (copiedFloats + rowFloats)
      let images = from.shape.images
      run.share(images * bands, writing: output) { thread, units in
        let copied = memory + thread * (copiedFloats + rowFloats)
        let line = copied + copiedFloats
        for unit in units {
          let (image, band) = unit.quotientAndRemainder(dividingBy: bands)
          let end = min(rows, (band + 1) * Self.bandRows)
          if isAveraged { (sums + unit * rowFloats).update(repeating: 0, count: rowFloats) }
          for first in stride(from: band * Self.bandRows, to: end, by: Self.copiedRows) {
            let part = first..<min(end, first + Self.copiedRows)
            copy(part, source + image * from.imageStride, copied)
            for row in part {
              let input = copied + (row - first) * copiedWidth
              if isAveraged {
                convolve(input, line, planeStride: width)
                functions.add(
                  line, to: sums + unit * rowFloats, count: width, channels: outputs)
              } else {
                let row = target + image * to.imageStride + row * to.rowStride
                convolve(input, row, planeStride: to.planeStride)
                functions.apply(
                  row, count: width, channels: outputs, planeStride: to.planeStride)
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
