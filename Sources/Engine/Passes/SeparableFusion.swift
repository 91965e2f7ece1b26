/// Fuses a depthwise convolution with the 1 × 1 convolution that is its only reader, if threads can
/// share the rows evenly.
enum SeparableFusion: Pass {
  static let name = "separable-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    let before = graph
    return try fuse(&graph, input: 0) { producer, node, _ in
      let output = before.shape(node.outputs[0])
      guard let pointwise = node.operation as? ConvolutionOperation, pointwise.isPointwise,
        pointwise.method != .integers,
        !pointwise.hasResidual || before.shape(node.inputs[1]) == output,
        let depthwise = producer.operation as? ConvolutionOperation,
        depthwise.weights.path(block: context.channelBlock) == .depthwise, !depthwise.hasResidual,
        context.tiles == .none
          || !pointwise.fitsTiles(output, inputBlock: context.channelBlock)
      else { return nil }
      let middle = before.shape(node.inputs[0])
      let bands = SeparableBands(
        middle, block: context.channelBlock, threads: context.pool.threadCount)
      return bands.isBalanced
        ? SeparableConvolutionOperation(depthwise: depthwise, pointwise: pointwise, middle: middle)
        : nil
    }
  }
}
