/// Puts a scale and bias for each channel (batch normalisation, scale, bias, linear) into the
/// weights and bias of the convolution or dense layer before, as long as that has no activation
/// yet; two in a row become one.
enum AffineFusion: Pass {
  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    try fuse(&graph) { producer, node, channels in
      guard let elementwise = node.operation as? ElementwiseOperation,
        let (scale, bias) = elementwise.function.affineParameters(channels: channels)
      else { return nil }
      switch producer.operation {
      case var convolution as ConvolutionOperation
      where convolution.weights.activation == .none && !convolution.hasResidual
        && !convolution.poolsMaximum:
        convolution.weights.apply(scale: scale, bias: bias)
        return convolution
      case var transposed as TransposedConvolutionOperation
      where transposed.weights.activation == .none:
        transposed.weights.apply(scale: scale, bias: bias)
        return transposed
      case var dense as DenseOperation where dense.activation == .none:
        guard dense.apply(scale: scale, bias: bias) else { return nil }
        return dense
      case let before as ElementwiseOperation:
        guard let (first, offset) = before.function.affineParameters(channels: channels) else {
          return nil
        }
        let combined = zip(scale, first).map { Float($0 * $1) }
        let shifted = zip(zip(scale, offset), bias).map { Float($0.0 * $0.1 + $1) }
        return ElementwiseOperation(function: .affine(scale: combined, bias: shifted))
      default: return nil
      }
    }
  }
}

/// Replaces a producer and its only reader by what `combine` makes of the two, wherever the reader
/// has one input and nobody else sees the value between.
///
/// - Parameter combine: gets the producer, the reader and the count of channels between them.
func fuse(
  _ graph: inout Graph,
  _ combine: (Graph.Node, Graph.Node, Int) throws -> (any Operation)?
) throws -> Bool {
  var uses = graph.useCounts()
  var producers = graph.producers()
  var removed: Set<Int> = []
  for index in graph.nodes.indices {
    let node = graph.nodes[index]
    guard node.inputs.count == 1, node.outputs.count == 1 else { continue }
    let between = node.inputs[0]
    guard uses[between] == 1, let producer = producers[between],
      graph.nodes[producer].outputs.count == 1
    else { continue }
    let before = graph.nodes[producer]
    guard let operation = try combine(before, node, graph.shape(between).channels) else { continue }
    graph.nodes[index].operation = operation
    graph.nodes[index].inputs = before.inputs
    if type(of: operation) == type(of: before.operation) {
      graph.nodes[index].layerType = before.layerType
      graph.nodes[index].name = before.name
    }
    removed.insert(producer)
    uses[between] = 0
    producers[between] = nil
  }
  graph.removeNodes(removed)
  return !removed.isEmpty
}
