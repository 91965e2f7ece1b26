/// Computes convolutions with few input and output channels plane by plane if input and output are
/// in planes anyway.
enum PlanarSelection: Pass {
  static let name = "planar-selection"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let before = graph
    let producers = graph.producers()
    var readers = [[Int]](repeating: [], count: graph.values.count)
    for (index, node) in graph.nodes.enumerated() {
      for input in node.inputs { readers[input].append(index) }
    }
    // Convolutions chosen earlier produce planes, too.
    var chosen: Set<Graph.ValueID> = []
    return graph.replaceConvolutions { convolution, node, output in
      let (weights, window) = (convolution.weights, convolution.window)
      guard !convolution.hasResidual, weights.groups == 1, weights.inputs <= 8,
        weights.outputs <= 8, output.width >= 16, window.stride == [1, 1],
        chosen.contains(node.inputs[0])
          || producers[node.inputs[0]].map({ before.nodes[$0].operation.givesPlanes }) ?? true,
        readers[node.outputs[0]].allSatisfy({ before.nodes[$0].operation.takesPlanes })
      else { return nil }
      chosen.insert(node.outputs[0])
      return PlanarConvolutionOperation(
        weights: weights, window: window,
        isPaired: context.convolution != .direct
          && window.kernel[0] == 3 && window.dilation[0] == 1,
        rows: output.height, width: output.width, functions: weights.functions)
    }
  }
}

extension NodeOperation {
  // Row-major images are in planes.
  fileprivate var givesPlanes: Bool {
    self is PieceSumConvolutionOperation || self is StridedCopyOperation
  }

  fileprivate var takesPlanes: Bool {
    switch self {
    case let convolution as ConvolutionOperation:
      convolution.weights.groups == 1 && convolution.weights.inputs <= 8
    case let pooling as PoolingOperation: pooling.isGlobalAverage
    default: self is ElementwiseOperation || self is DenseOperation
    }
  }
}
