/// Fuses a depthwise convolution with the 1 × 1 convolution that is its only reader, if threads can
/// share the rows evenly.
enum SeparableFusion: Pass {
  static let name = "separable-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    var removed: Set<Int> = []
    for index in graph.nodes.indices {
      let node = graph.nodes[index]
      guard let pointwise = node.operation as? ConvolutionOperation, pointwise.isPointwise,
        pointwise.method != .integers,
        !pointwise.hasResidual || graph.shape(node.inputs[1]) == graph.shape(node.outputs[0]),
        uses[node.inputs[0]] == 1, let producer = producers[node.inputs[0]],
        let depthwise = graph.nodes[producer].operation as? ConvolutionOperation,
        depthwise.weights.path(block: context.channelBlock) == .depthwise, !depthwise.hasResidual,
        context.tiles == .none
          || !pointwise.fitsTiles(graph.shape(node.outputs[0]), inputBlock: context.channelBlock)
      else { continue }
      let middle = graph.shape(node.inputs[0])
      let bands = SeparableBands(
        middle, block: context.channelBlock, threads: context.pool.threadCount)
      guard bands.isBalanced else { continue }
      graph.nodes[index].operation = SeparableConvolutionOperation(
        depthwise: depthwise, pointwise: pointwise, middle: middle)
      graph.nodes[index].inputs[0] = graph.nodes[producer].inputs[0]
      graph.nodes[index].multiplyAdds += graph.nodes[producer].multiplyAdds
      removed.insert(producer)
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }
}
