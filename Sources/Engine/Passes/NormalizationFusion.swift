import Kernels

/// Computes γ · (x − mean) / √(variance + ε) + β over adjacent elements, which converters spell out
/// as seven to nine layers, in one step.
enum NormalizationFusion: Pass {
  static let name = "normalization-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    let readers = Dictionary(
      graph.nodes.enumerated().flatMap { index, node in node.inputs.map { ($0, index) } },
      uniquingKeysWith: { $1 })
    var removed: Set<Int> = []
    for index in graph.nodes.indices {
      guard let match = Match(endingWith: index, graph, uses, producers) else { continue }
      var (last, gamma, beta): (Int, [Float]?, [Float]?) = (index, nil, nil)
      if let reader = readers[graph.nodes[index].outputs[0]],
        uses[graph.nodes[index].outputs[0]] == 1,
        let affine = (graph.nodes[reader].operation as? ElementwiseOperation)?.function,
        let (scale, bias) = affine.affineParameters(channels: match.length),
        graph.shape(match.input).channels == match.length || !affine.isPerChannel
      {
        (last, gamma, beta) = (reader, scale.map { Float($0) }, bias.map { Float($0) })
      }
      graph.nodes[last].operation = try ArrayOperation(
        normalizing: graph.shape(match.input), length: match.length, epsilon: match.epsilon,
        gamma: gamma, beta: beta)
      graph.nodes[last].inputs = [match.input]
      removed.formUnion(match.nodes + [index])
      removed.remove(last)
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }

  private struct Match {
    var input: Graph.ValueID
    var length: Int
    var epsilon: Float
    /// The nodes before the last one.
    var nodes: [Int] = []

    /// centered · rsqrt(mean(centered²) + ε), where centered = x − mean(x).
    init?(endingWith index: Int, _ graph: Graph, _ uses: [Int], _ producers: [Int?]) {
      /// The node that computes `value`, which is read `count` times.
      func source(_ value: Graph.ValueID, read count: Int = 1) -> (index: Int, node: Graph.Node)? {
        guard uses[value] == count, let index = producers[value] else { return nil }
        return (index, graph.nodes[index])
      }
      func operands(_ node: Graph.Node, _ function: CombiningFunction) -> [[Graph.ValueID]] {
        guard (node.operation as? CombineOperation)?.function == function, node.inputs.count == 2
        else { return [] }
        return [node.inputs, node.inputs.reversed()]
      }
      for pair in operands(graph.nodes[index], .multiply) {
        guard let centered = source(pair[0], read: 3), let root = source(pair[1]),
          let function = (root.node.operation as? ElementwiseOperation)?.function,
          function.function == .rsqrt, function.scale == 1, function.shift == 0,
          case .scalar(let epsilon) = function.alpha,
          let variance = source(root.node.inputs[0]),
          let length = (variance.node.operation as? ArrayOperation)?.averagedLength,
          let squares = source(variance.node.inputs[0]), squares.node.inputs == [pair[0], pair[0]],
          !operands(squares.node, .multiply).isEmpty
        else { continue }
        for pair in operands(centered.node, .add) {
          guard let negated = source(pair[1]), let mean = source(negated.node.inputs[0]),
            (negated.node.operation as? ElementwiseOperation)?.function.factor == -1,
            (mean.node.operation as? ArrayOperation)?.averagedLength == length,
            mean.node.inputs == [pair[0]],
            graph.shape(pair[0]) == graph.shape(graph.nodes[index].outputs[0])
          else { continue }
          (input, self.length, self.epsilon) = (pair[0], length, epsilon)
          nodes = [mean, negated, centered, squares, variance, root].map(\.index)
          return
        }
      }
      return nil
    }
  }
}
