import Kernels

/// Computes γ · (x − mean) / √(variance + ε) + β over adjacent elements or the channels of each
/// pixel, which converters spell out as seven to nine layers, in one step.
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
      let shape = graph.shape(match.input)
      let length =
        if case .adjacent(let length) = match.averaged { length } else { shape.channels }
      if let reader = readers[graph.nodes[index].outputs[0]],
        uses[graph.nodes[index].outputs[0]] == 1,
        let affine = (graph.nodes[reader].operation as? ElementwiseOperation)?.function,
        let (scale, bias) = affine.affineParameters(channels: length),
        shape.channels == length || !affine.isPerChannel
      {
        (last, gamma, beta) = (reader, scale.map { Float($0) }, bias.map { Float($0) })
      }
      graph.nodes[last].operation = NormalizationOperation(
        averaged: match.averaged, epsilon: match.epsilon, gamma: gamma, beta: beta)
      graph.nodes[last].inputs = [match.input]
      removed.formUnion(match.nodes + [index])
      removed.remove(last)
    }
    for index in graph.nodes.indices {
      guard let channels = Channels(movedFor: index, graph, uses, producers, readers) else {
        continue
      }
      graph.nodes[channels.last].operation = channels.operation
      graph.nodes[channels.last].inputs = graph.nodes[channels.first].inputs
      removed.formUnion([channels.first, index])
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }

  /// A normalization of the channels of each pixel, which were moved to the end and are moved back.
  private struct Channels {
    /// The nodes that move them.
    var first, last: Int
    var operation: NormalizationOperation

    init?(
      movedFor index: Int, _ graph: Graph, _ uses: [Int], _ producers: [Int?],
      _ readers: [Graph.ValueID: Int]
    ) {
      let node = graph.nodes[index]
      guard let rows = node.operation as? NormalizationOperation,
        case .adjacent(let length) = rows.averaged,
        let first = producers[node.inputs[0]], let last = readers[node.outputs[0]],
        uses[node.inputs[0]] == 1, uses[node.outputs[0]] == 1,
        let there = graph.nodes[first].operation as? StridedCopyOperation,
        let back = graph.nodes[last].operation as? StridedCopyOperation, back.reverts(there)
      else { return nil }
      let shape = graph.shape(graph.nodes[first].inputs[0])
      guard shape.channels == length, there.sizes.last == length, there.strides.last == shape.area,
        shape == graph.shape(graph.nodes[last].outputs[0])
      else { return nil }
      (self.first, self.last) = (first, last)
      operation = NormalizationOperation(
        averaged: .channels, epsilon: rows.epsilon, gamma: rows.gamma, beta: rows.beta)
    }
  }

  private struct Match {
    var input: Graph.ValueID
    var averaged: ArrayOperation.Averaged
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
          let averaged = (variance.node.operation as? ArrayOperation)?.averaged,
          let squares = source(variance.node.inputs[0]), squares.node.inputs == [pair[0], pair[0]],
          !operands(squares.node, .multiply).isEmpty
        else { continue }
        for pair in operands(centered.node, .add) {
          guard let negated = source(pair[1]), let mean = source(negated.node.inputs[0]),
            (negated.node.operation as? ElementwiseOperation)?.function.factor == -1,
            (mean.node.operation as? ArrayOperation)?.averaged == averaged,
            mean.node.inputs == [pair[0]],
            graph.shape(pair[0]) == graph.shape(graph.nodes[index].outputs[0])
          else { continue }
          (input, self.averaged, self.epsilon) = (pair[0], averaged, epsilon)
          nodes = [mean, negated, centered, squares, variance, root].map(\.index)
          return
        }
      }
      return nil
    }
  }
}
