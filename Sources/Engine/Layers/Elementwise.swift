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
    let (from, to) = (input.layout, output.layout)
    let (block, function, kernel) = (to.block, function, context.kernels.unary)
    func lanes(_ parameter: ScaledFunction.Parameter) throws -> Constant? {
      guard case .perChannel(let values) = parameter, block > 1 else { return nil }
      return try Constant(values, paddedTo: to.channelBlocks * block)
    }
    let (alphas, betas) = (try lanes(function.alpha), try lanes(function.beta))
    let clearsLanes = to.hasEmptyLanes && !function.keepsZero
    let isWhole = to.hasContiguousPlanes && from.hasContiguousPlanes
    return context.planeStep { band in
      let channel = band.plane % to.channelBlocks * block
      var arguments = UnaryArguments(
        function: function.function, input: band.source, output: band.target,
        count: to.shape.width * block * (isWhole ? to.shape.height : 1),
        function.parameters(channel))
      arguments.parameters.channelAlpha = alphas.map { $0.pointer + channel }
      arguments.parameters.channelBeta = betas.map { $0.pointer + channel }
      for _ in 0..<(isWhole ? 1 : to.shape.height) {
        kernel(arguments)
        arguments.input += from.rowStride
        arguments.output += to.rowStride
      }
      if clearsLanes { to.clearEmptyLanes(ofPlane: band.plane, in: band.buffer) }
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
