import Kernels
import TensorCore

/// Computes softmax(factor · scale · query · keyᵀ + mask) · value in one step.
enum AttentionFusion: Pass {
  static let name = "attention-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    var removed: Set<Int> = []
    for index in graph.nodes.indices {
      var node = graph.nodes[index]
      guard let weighted = (node.operation as? MatrixProductOperation)?.withoutUnitAxes,
        weighted.a
          == MatrixWalk(rowMajor: weighted.batch, rows: weighted.rows, columns: weighted.depth)
      else { continue }
      var chain = NodeChain(graph: graph, uses: uses, producers: producers)
      guard let softmax = chain.producer(of: node.inputs[0]),
        let rows = softmax.operation as? RowSoftmaxOperation, rows.length == weighted.depth
      else { continue }
      var value = softmax.inputs[0]
      let mask = chain.operand(of: .add, &value, weighted)
      let factor = chain.operand(of: .multiply, &value, weighted)
      guard let product = chain.producer(of: value),
        let scores = (product.operation as? MatrixProductOperation)?.withoutUnitAxes,
        scores.batch == weighted.batch, scores.rows == weighted.rows,
        scores.columns == weighted.depth,
        scores.output
          == MatrixWalk(rowMajor: scores.batch, rows: scores.rows, columns: scores.columns)
      else { continue }
      node.operation = AttentionOperation(
        scores: scores, weighted: weighted, factor: factor?.walk, mask: mask?.walk)
      node.inputs =
        product.inputs + [node.inputs[1]] + [factor, mask].compactMap { $0?.value }
      node.multiplyAdds += product.multiplyAdds
      graph.nodes[index] = node
      removed.formUnion(chain.nodes)
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }
}

/// Nodes whose results only the next one reads, from the last to the first.
private struct NodeChain {
  let graph: Graph
  let uses: [Int]
  let producers: [Int?]
  private(set) var nodes: Set<Int> = []

  /// Adds the node that computes `value`, and views in between.
  mutating func producer(of value: Graph.ValueID) -> Graph.Node? {
    guard uses[value] == 1, let index = producers[value] else { return nil }
    nodes.insert(index)
    let node = graph.nodes[index]
    return node.operation is ViewOperation ? producer(of: node.inputs[0]) : node
  }

  /// An operand of the scores.
  struct Operand {
    var value: Graph.ValueID
    var walk: MatrixWalk
  }

  /// The mask, if `value` is a sum with it, or the factor, if it is a product; `value` becomes the
  /// scores without it.
  mutating func operand(
    of function: CombiningFunction, _ value: inout Graph.ValueID, _ weighted: MatrixProductOperation
  ) -> Operand? {
    var chain = self
    guard let node = chain.producer(of: value), let pairs = node.operands(of: function) else {
      return nil
    }
    let shape = graph.shape(node.outputs[0]).dimensions
    guard shape.suffix(2) == [weighted.rows, weighted.depth],
      shape.dropLast(2).filter({ $0 != 1 }) == weighted.batch
    else { return nil }
    for (scores, other) in pairs {
      // Views add axes of length 1 in front.
      let sizes = graph.shape(other).dimensions
      var before = chain
      guard sizes.count <= shape.count,
        zip(sizes.reversed(), shape.reversed()).allSatisfy({ $0 == 1 || $0 == $1 }),
        let source = before.producer(of: scores),
        source.operation is MatrixProductOperation
          || function == .add && source.operands(of: .multiply) != nil
      else { continue }
      var walk = MatrixWalk(broadcasting: sizes, to: shape)
      walk.batch = zip(walk.batch, shape).filter { $1 != 1 }.map(\.0)
      (self, value) = (chain, scores)
      return Operand(value: other, walk: walk)
    }
    return nil
  }
}

extension Graph.Node {
  /// The operands of a function of two values, in both orders.
  fileprivate func operands(
    of function: CombiningFunction
  ) -> [(Graph.ValueID, Graph.ValueID)]? {
    let own =
      (operation as? CombineOperation)?.function ?? (operation as? BroadcastOperation)?.function
    guard own == function, inputs.count == 2 else { return nil }
    return [(inputs[0], inputs[1]), (inputs[1], inputs[0])]
  }
}

extension MatrixProductOperation {
  /// The same products without axes of the batch that have length 1.
  fileprivate var withoutUnitAxes: MatrixProductOperation {
    func kept(_ walk: MatrixWalk) -> MatrixWalk {
      var walk = walk
      walk.batch = zip(walk.batch, batch).filter { $1 != 1 }.map(\.0)
      return walk
    }
    var product = self
    (product.a, product.b, product.output) = (kept(a), kept(b), kept(output))
    product.batch = batch.filter { $0 != 1 }
    return product
  }
}
