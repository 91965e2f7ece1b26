/// Chooses to compute convolutions with few channels on both sides plane by plane, where both sides
/// stand in planes anyway.
enum PlanarSelection: Pass {
  static let name = "planar-selection"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let producers = graph.producers()
    var readers = [[Int]](repeating: [], count: graph.values.count)
    for (index, node) in graph.nodes.enumerated() {
      for input in node.inputs { readers[input].append(index) }
    }
    var changed = false
    for index in graph.nodes.indices {
      let node = graph.nodes[index]
      guard let convolution = node.operation as? ConvolutionOperation, !convolution.hasResidual,
        !convolution.poolsMaximum
      else { continue }
      let weights = convolution.weights
      let output = graph.shape(node.outputs[0])
      guard weights.groups == 1, weights.inputs <= 8, weights.outputs <= 8, output.width >= 16,
        convolution.window.stride == [1, 1],
        producers[node.inputs[0]].map({ graph.nodes[$0].operation.givesPlanes }) ?? true,
        readers[node.outputs[0]].allSatisfy({ graph.nodes[$0].operation.takesPlanes })
      else { continue }
      graph.nodes[index].operation = PlanarConvolutionOperation(
        weights: weights.withoutActivation, window: convolution.window,
        rows: output.height, width: output.width, functions: weights.activation.elementFunctions)
      changed = true
    }
    return changed
  }
}

extension Operation {
  fileprivate var givesPlanes: Bool {
    self is PlanarConvolutionOperation || self is PieceSumConvolutionOperation
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
