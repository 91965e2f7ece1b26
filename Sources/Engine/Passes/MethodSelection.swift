/// Chooses how each convolution is computed; see `ConvolutionMethod`. Without this pass, all are
/// direct.
enum MethodSelection: Pass {
  static let name = "method-selection"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    graph.replaceConvolutions { convolution, node, output in
      guard convolution.method == nil else { return nil }
      var chosen = convolution
      chosen.method = ConvolutionMethod(
        convolution.weights, convolution.window, output: output, kernels: context.kernels,
        context.convolution)
      return chosen
    }
  }
}

extension Graph {
  /// Replaces convolutions that have nothing fused into them with the result of `replacement`,
  /// which receives the convolution, its node and the shape of its result.
  mutating func replaceConvolutions(
    _ replacement: (ConvolutionOperation, Node, Shape) -> (any NodeOperation)?
  ) -> Bool {
    var changed = false
    for (index, node) in nodes.enumerated() {
      guard let convolution = node.operation as? ConvolutionOperation, !convolution.poolsMaximum,
        let operation = replacement(convolution, node, shape(node.outputs[0]))
      else { continue }
      nodes[index].operation = operation
      changed = true
    }
    return changed
  }
}
