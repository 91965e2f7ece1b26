/// Lets a convolution add the other operand of the sum that is the only reader of its result.
enum ResidualFusion: Pass {
  static let name = "residual-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    var producers = graph.producers()
    var removed: Set<Int> = []
    for index in graph.nodes.indices {
      let sum = graph.nodes[index]
      guard (sum.operation as? CombineOperation)?.function == .add, sum.inputs.count == 2,
        sum.inputs[0] != sum.inputs[1],
        sum.inputs.allSatisfy({ graph.shape($0).hasPlanes(of: graph.shape(sum.outputs[0])) })
      else { continue }
      // Chooses the later of two candidates, because the other operand must exist when it runs.
      let candidates = sum.inputs.compactMap { input in
        producers[input].flatMap { uses[input] == 1 && canAdd($0, graph, context) ? $0 : nil }
      }
      guard let producer = candidates.max() else { continue }
      var node = graph.nodes[producer]
      switch node.operation {
      case var convolution as ConvolutionOperation:
        convolution.hasResidual = true
        node.operation = convolution
      case var linear as LinearOperation:
        linear.convolution.hasResidual = true
        node.operation = linear
      default: continue
      }
      node.inputs.append(sum.inputs[0] == node.outputs[0] ? sum.inputs[1] : sum.inputs[0])
      node.outputs = sum.outputs
      graph.nodes[index] = node
      producers[sum.outputs[0]] = index
      removed.insert(producer)
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }

  private static func canAdd(_ producer: Int, _ graph: Graph, _ context: PassContext) -> Bool {
    let convolution: ConvolutionOperation
    switch graph.nodes[producer].operation {
    case let operation as ConvolutionOperation: convolution = operation
    case let linear as LinearOperation where linear.hasWholeBlocks(context.channelBlock):
      convolution = linear.convolution
    default: return false
    }
    return convolution.weights.activation == nil && !convolution.hasResidual
      && !convolution.poolsMaximum
      && convolution.weights.path(block: context.channelBlock).hasEpilogue
  }
}
