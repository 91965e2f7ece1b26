/// Copies the pixels that 1 × 1 convolutions with strides read, once for all convolutions that read the
/// same: their panels read the copy in long rows, instead of every second cache line again and again.
enum Subsampling: Pass {
  static let name = "subsampling"

  /// For fewer output channels, the copy takes longer than it saves.
  private static let fewestOutputs = 64

  private struct Pixels: Hashable {
    var value: Graph.ValueID
    var stride: [Int]
    var size: [Int]
  }

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    var copies: [Pixels: Graph.ValueID] = [:]
    var nodes: [Graph.Node] = []
    for var node in graph.nodes {
      if var convolution = node.operation as? ConvolutionOperation,
        convolution.isSubsampling(graph.shape(node.inputs[0]), graph.shape(node.outputs[0])),
        convolution.weights.outputs >= fewestOutputs
      {
        let (stride, output) = (convolution.window.stride, graph.shape(node.outputs[0]))
        let input = node.inputs[0]
        let pixels = Pixels(value: input, stride: stride, size: [output.height, output.width])
        if copies[pixels] == nil {
          let shape = graph.shape(input).resized(height: output.height, width: output.width)
          let copy = graph.addValue("", shape)
          nodes.append(
            Graph.Node(
              name: node.name, layerType: node.layerType,
              operation: PlaneGatherOperation(
                kind: "every \(stride[0])×\(stride[1]) pixels",
                rows: (0..<output.height).map { $0 * stride[0] },
                columns: (0..<output.width).map { $0 * stride[1] }), inputs: [input],
              outputs: [copy]))
          copies[pixels] = copy
        }
        convolution.window.stride = [1, 1]
        node.operation = convolution
        node.inputs[0] = copies[pixels] ?? input
      }
      nodes.append(node)
    }
    graph.nodes = nodes
    return !copies.isEmpty
  }
}

extension ConvolutionOperation {
  /// Whether it reads single pixels, and not all of them.
  fileprivate func isSubsampling(_ input: Shape, _ output: Shape) -> Bool {
    weights.groups == 1 && window.kernel == [1, 1] && window.stride != [1, 1]
      && (method == nil || method == .direct) && !poolsMaximum
      && window.halo(input: input, output: output) == .none && window.start == [0, 0]
  }
}
