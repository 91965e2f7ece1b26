import CoreMLModel
import Kernels
import TensorCore

/// A convolution of integers: weights are the codes of the file, inputs are rounded to 8 bits in
/// each run, and their products are summed exactly.
///
/// With inputs s · (q − z) and weights f · c + b:
///
///     Σ input · weight = s · f · (Σ q c − z Σ c) + s · b · Σ (q − z)
///
/// The scale s and the zero z of an image follow from the range of all its values and 0.
struct ByteConvolution: Sendable {
  let plan: DirectPlan
  let sizes: Sizes
  private let input: Operand
  private let start: Int
  private let kernels: any KernelTable.Type
  /// f and b of each output channel, and the sum of its codes.
  private let scale, offset: Constant
  private let sums: [Int32]

  struct Sizes: Sendable {
    /// Distances between pixels that are rounded: those of a 1 × 1 kernel that no output reads are
    /// not.
    let step: [Int]
    /// Distances between the windows of neighboring outputs.
    let stride: [Int]
    /// The pixels of a rounded image, with halo.
    let rows, width: Int
    /// The words of a pixel's channels; one for the total follows.
    let words: Int
    /// Output channels, padded to whole blocks.
    let outputs: Int
    let taps: Int
    let images, planes: Int

    init(_ weights: ConvolutionWeights, _ window: WindowGeometry, _ context: StepContext) {
      let (from, to) = (context.inputs[0].layout, context.outputs[0].layout.shape)
      let isPoint = window.kernel == [1, 1]
      (step, stride) = isPoint ? (window.stride, [1, 1]) : ([1, 1], window.stride)
      rows = (to.height - 1) * stride[0] + window.extent(0)
      width = (to.width - 1) * stride[1] + window.extent(1)
      words = (from.channelBlocks * from.block + 15) / 16 * 4
      outputs = (weights.outputs + from.block - 1) / from.block * from.block
      taps = window.kernel[0] * window.kernel[1]
      (images, planes) = (from.shape.images, from.planes)
    }

    /// The distances between words of rounded pixels, each in whole 16 bytes.
    var strides: Strides {
      Strides(pixel: words + 4, row: width * (words + 4), image: rows * width * (words + 4))
    }

    var weightWords: Int { outputs * taps * words }

    /// Ranges of planes; start, scale and offset of each image; rounded images.
    var scratchFloats: Int { firstWord + images * strides.image }
    var firstWord: Int { 2 * planes + images * 3 * outputs }
  }

  /// Whether sums are less than 2³¹, and weights have a scale and a bias per output channel.
  static func fits(_ weights: ConvolutionWeights, _ window: WindowGeometry) -> Bool {
    let terms = weights.inputs * window.kernel[0] * window.kernel[1]
    guard weights.groups == 1, weights.inputs > 8, terms * 255 * 255 < 1 << 31,
      case .linear? = weights.values.compressed?.rowCodes(weights.outputs)?.values
    else { return false }
    return true
  }

  init(_ weights: ConvolutionWeights, _ window: WindowGeometry, _ context: StepContext) throws {
    sizes = Sizes(weights, window, context)
    input = context.inputs[0]
    start = window.origin(in: input.layout)
    kernels = context.kernels
    guard let codes = weights.values.compressed?.rowCodes(weights.outputs),
      case .linear(let scales, let biases) = codes.values
    else { throw ModelError(.internal, "a convolution of integers without codes") }
    let factors = weights.scale ?? [Float](repeating: 1, count: weights.outputs)
    scale = try Constant(zip(scales, factors).map { $0 * $1 }, paddedTo: sizes.outputs)
    offset = try Constant(zip(biases, factors).map { $0 * $1 }, paddedTo: sizes.outputs)
    let packed: Constant
    (packed, sums) = try Self.pack(codes, weights, sizes, context)
    var view = weights.view(window, Bytes())
    view.inputChannels = sizes.words
    var taps = Window(strideY: sizes.stride[0], strideX: sizes.stride[1])
    (taps.dilationY, taps.dilationX) = (window.dilation[0], window.dilation[1])
    view.words = packed
    plan = try DirectPlan(weights, view, taps, inputBlock: sizes.words, context: context)
  }

  /// The words of each panel, `[panel][tap][word][output channel]`, and the sums of the codes.
  private static func pack(
    _ codes: RowCodes, _ weights: ConvolutionWeights, _ sizes: Sizes, _ context: StepContext
  ) throws -> (Constant, [Int32]) {
    let panelWidth = context.kernels.panelBlocks * context.channelBlock
    let buffer = try context.weightBuffer(floats: sizes.weightWords)
    let target = UnsafeMutableSendable(buffer.pointer.assumingMemoryBound(to: UInt8.self))
    var sums = [Int32](repeating: 0, count: sizes.outputs)
    codes.source.withUnsafeBytes { bytes in
      let source = PackedCodes(bytes, bits: codes.bits)
      sums.withUnsafeMutableBufferPointer { sums in
        guard let base = sums.baseAddress else { return }
        let sums = UnsafeMutableSendable(base)
        context.pool.forEach(sizes.outputs) { output in
          let panel = output / panelWidth * panelWidth
          let stride = min(panelWidth, sizes.outputs - panel) * 4
          let first = output * weights.inputs * sizes.taps
          let column =
            target.pointer + (panel * sizes.taps * sizes.words + output - panel) * 4
          var sum: Int32 = 0
          for tap in 0..<sizes.taps {
            for channel in 0..<sizes.words * 4 {
              let isUsed = output < weights.outputs && channel < weights.inputs
              let code = isUsed ? source[first + channel * sizes.taps + tap] : 0
              column[(tap * sizes.words + channel / 4) * stride + channel % 4] = UInt8(code)
              sum += Int32(code)
            }
          }
          sums.pointer[output] = sum
        }
      }
    }
    codes.source.dropPages()
    return (Constant(buffer), sums)
  }

  // MARK: Runs

  func words(_ scratch: UnsafeMutablePointer<Float>) -> UnsafeMutablePointer<Float> {
    scratch + sizes.firstWord
  }

  func sums(_ scratch: UnsafeMutablePointer<Float>, image: Int) -> ByteSums {
    let values = UnsafePointer(scratch) + 2 * sizes.planes + image * 3 * sizes.outputs
    return ByteSums(
      start: values, scale: values + sizes.outputs, offset: values + 2 * sizes.outputs,
      totalWord: sizes.words)
  }

  /// Rounds the images of a run.
  func round(_ run: RunContext, _ scratch: UnsafeMutablePointer<Float>) {
    let layout = input.layout
    let source = UnsafePointer(run.pointer(input))
    run.pool.forEach(sizes.planes) { plane in
      // With the halo, whose zeros do not matter.
      let values = source + layout.planeOffset(plane) - layout.origin
      var range = (low: Float(0), high: Float(0))
      // Parts stay in the L1 cache for the second reduction.
      for part in stride(from: 0, to: layout.planeStride, by: 4096) {
        let count = min(4096, layout.planeStride - part)
        let low = kernels.reduce(.minimum, values + part, count: count)
        let high = kernels.reduce(.maximum, values + part, count: count)
        range.low = low < range.low || low.isNaN ? low : range.low
        range.high = high > range.high || high.isNaN ? high : range.high
        if low.isNaN { break }
      }
      (scratch[2 * plane], scratch[2 * plane + 1]) = range
    }
    let roundings = (0..<sizes.images).map { setScales(image: $0, scratch) }
    run.pool.forEach(sizes.images * sizes.rows) { unit in
      let (image, row) = unit.quotientAndRemainder(dividingBy: sizes.rows)
      var strides = layout.strides
      strides.pixel *= sizes.step[1]
      var rounding = ByteRounding(
        input: InputView(
          source + start + image * layout.imageStride + row * sizes.step[0] * layout.rowStride,
          strides), blocks: layout.channelBlocks, width: sizes.width,
        output: OutputView(
          words(scratch) + image * sizes.strides.image + row * sizes.strides.row, sizes.strides))
      (rounding.inverse, rounding.zero) = roundings[image]
      kernels.roundToBytes(rounding)
    }
  }

  /// Sets the factors for an image's sums. If one of its values is not finite, they are NaN.
  private func setScales(
    image: Int, _ scratch: UnsafeMutablePointer<Float>
  ) -> (inverse: Float, zero: Int32) {
    let ranges = scratch + image * input.layout.channelBlocks * 2
    var (low, high) = (Float(0), Float(0))
    for plane in 0..<input.layout.channelBlocks {
      low = ranges[2 * plane] < low || ranges[2 * plane].isNaN ? ranges[2 * plane] : low
      high =
        ranges[2 * plane + 1] > high || ranges[2 * plane + 1].isNaN ? ranges[2 * plane + 1] : high
    }
    let width = high / 255 - low / 255
    let isFinite = width.isFinite
    // The inverse of a smaller number could be infinite.
    let step = isFinite ? max(width, 0x1p-120) : .nan
    let inverse = isFinite ? 1 / step : 0
    let zero = isFinite ? -128 - Int32((low * inverse).rounded(.toNearestOrEven)) : 0
    let values = scratch + 2 * sizes.planes + image * 3 * sizes.outputs
    for output in 0..<sizes.outputs {
      values[output] = Float(bitPattern: UInt32(bitPattern: 0 &- zero &* sums[output]))
      values[sizes.outputs + output] = step * scale.pointer[output]
      values[2 * sizes.outputs + output] = step * offset.pointer[output]
    }
    return (inverse, zero)
  }
}
