import Kernels
import TensorCore

/// out[r][o] = activation(bias[o] + Σ weights[o][i] · in[r][i] + residual[r][o]) for row-major
/// arrays of any rank; the residual is the second input.
///
/// This is a 1 × 1 convolution: a row is a pixel whose channels are adjacent.
struct LinearOperation: NodeOperation {
  /// A convolution with a 1 × 1 kernel and one group.
  var convolution: ConvolutionOperation

  init(_ weights: StoredWeights, inputs: Int, outputs: Int, bias: [Float]?) {
    convolution = ConvolutionOperation(
      weights: ConvolutionWeights(
        values: weights, groups: 1, groupInputs: inputs, groupOutputs: outputs, bias: bias),
      window: .pointwise)
  }

  /// Whether there are enough rows to justify a packed copy of the weights. Otherwise, a
  /// `DenseOperation` uses the weights in place.
  static func pays(rows: Int) -> Bool { rows >= 4 }

  var kind: String { "linear" + convolution.fusedLabel }
  var sumsProducts: Bool { true }

  /// Whether the rows of both matrices consist of whole blocks.
  func hasWholeBlocks(_ block: Int) -> Bool {
    convolution.weights.groupInputs % block == 0 && convolution.weights.groupOutputs % block == 0
  }

  private func padded(_ outputs: Int, _ context: StepContext) -> Int {
    (outputs + context.channelBlock - 1) / context.channelBlock * context.channelBlock
  }

  /// The context for the convolution. Kernels write whole blocks of outputs; if a row ends within a
  /// block, its results go to working memory first.
  private func pixels(_ context: StepContext) throws -> StepContext {
    let (inputs, outputs) = (convolution.weights.groupInputs, convolution.weights.groupOutputs)
    let block = context.channelBlock
    let rows = context.outputs[0].layout.shape.count / outputs
    let width = padded(outputs, context)
    var context = context
    context.inputs[0].layout = try BlobLayout(
      pixels: rows, channels: inputs, block: context.kernels.runLength(of: inputs))
    for index in context.inputs.indices.dropFirst() {
      context.inputs[index].layout = try BlobLayout(pixels: rows, channels: outputs, block: block)
    }
    context.outputs[0].layout = try BlobLayout(pixels: rows, channels: width, block: block)
    if width > outputs {
      context.outputs[0].location = context.scratch
      context.scratch = context.scratch.advanced(by: context.outputs[0].layout.floatCount)
    }
    return context
  }

  func describe(_ context: StepContext) -> StepNote {
    guard let pixels = try? pixels(context) else { return StepNote() }
    var note = convolution.describe(pixels)
    note.kernel = kind
    return note
  }

  func scratchFloats(_ context: StepContext) throws -> Int {
    let pixels = try pixels(context)
    return try convolution.scratchFloats(pixels)
      + (hasWholeBlocks(context.channelBlock) ? 0 : pixels.outputs[0].layout.floatCount)
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let pixels = try pixels(context)
    let step = try convolution.makeStep(pixels)
    let outputs = convolution.weights.groupOutputs
    let (wide, output) = (pixels.outputs[0], context.outputs[0])
    let width = wide.layout.pixelStride
    if width == outputs { return step }
    let rows = wide.layout.shape.width
    return { run in
      try step(run)
      let source = run.pointer(wide)
      let target = run.pointer(output)
      run.pool.forEach(min(rows, run.pool.threadCount * 4)) { piece in
        for row in ThreadPool.share(of: rows, piece, min(rows, run.pool.threadCount * 4)) {
          (target + row * outputs).update(from: source + row * width, count: outputs)
        }
      }
    }
  }
}

extension WindowGeometry {
  /// A single tap.
  static let pointwise = WindowGeometry(kernel: [1, 1], stride: [1, 1])
}
