import CoreMLModel
import Kernels
import TensorCore

/// Applies a function to each element.
struct ElementwiseOperation: NodeOperation {
  var function: ScaledFunction

  var kind: String { function.function.rawValue }
  var canRunInPlace: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences { shapes.followingFirstInput() }

  func describe(_ context: StepContext) -> StepNote { StepNote(kernel: kind) }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    if input.layout.isDense, output.layout.isDense, !function.isPerChannel {
      return flatStep(context)
    }
    let runner = try ElementwiseRunner(function, output.layout, context.kernels)
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      run.parallel(output.layout.planes, writing: output) { plane in
        runner.apply(plane, source, input.layout, target, output.layout)
      }
    }
  }
}

extension ElementwiseOperation {
  /// Processes row-major arrays in equal pieces.
  private func flatStep(_ context: StepContext) -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let count = output.layout.shape.count
    let pieces = max(1, min(context.threadCount * 4, count / 1024))
    let kernel = context.kernels.unary
    let function = function
    return { run in
      let source = UnsafePointer(run.pointer(input))
      let target = run.pointer(output)
      run.pool.forEach(pieces) { piece in
        let share = ThreadPool.share(of: count, piece, pieces)
        kernel(
          UnaryArguments(
            function: function.function, input: source + share.lowerBound,
            output: target + share.lowerBound, count: share.count, function.parameters(0)))
      }
    }
  }
}

/// Applies an element function plane by plane, with any channel block.
struct ElementwiseRunner: Sendable {
  private let function: ScaledFunction
  private let kernel: @Sendable (UnaryArguments) -> Void
  private let alphas: Constant?
  private let betas: Constant?
  private let clearsLanes: Bool

  init(_ function: ScaledFunction, _ layout: BlobLayout, _ kernels: any KernelTable.Type) throws {
    self.function = function
    kernel = kernels.unary
    let padded = layout.channelBlocks * layout.block
    func lanes(_ parameter: ScaledFunction.Parameter) throws -> Constant? {
      guard case .perChannel(let values) = parameter else { return nil }
      return try Constant(values, paddedTo: padded)
    }
    alphas = try lanes(function.alpha)
    betas = try lanes(function.beta)
    clearsLanes = layout.hasEmptyLanes && !function.keepsZero
  }

  func apply(
    _ plane: Int, _ source: UnsafePointer<Float>, _ sourceLayout: BlobLayout,
    _ target: UnsafeMutablePointer<Float>, _ layout: BlobLayout
  ) {
    let block = layout.block
    let channel = plane % layout.channelBlocks * block
    var arguments = UnaryArguments(
      function: function.function, input: source + sourceLayout.planeOffset(plane),
      output: target + layout.planeOffset(plane), count: layout.shape.width * block,
      function.parameters(channel))
    if block > 1 {
      arguments.parameters.channelAlpha = alphas.map { $0.pointer + channel }
      arguments.parameters.channelBeta = betas.map { $0.pointer + channel }
    }
    var rows = layout.shape.height
    if layout.hasContiguousPlanes && sourceLayout.hasContiguousPlanes {
      arguments.count *= rows
      rows = 1
    }
    for _ in 0..<rows {
      kernel(arguments)
      arguments.input += sourceLayout.rowStride
      arguments.output += layout.rowStride
    }
    if clearsLanes { layout.clearEmptyLanes(ofPlane: plane, in: target) }
  }
}
