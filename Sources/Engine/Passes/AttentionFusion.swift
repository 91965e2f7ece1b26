/// Computes softmax(scale · query · keyᵀ + mask) · value in one step.
enum AttentionFusion: Pass {
  static let name = "attention-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    var removed: Set<Int> = []

    /// The node that computes `value`, if nothing else reads it.
    func source(_ value: Graph.ValueID) -> (index: Int, node: Graph.Node)? {
      guard uses[value] == 1, let index = producers[value], !removed.contains(index) else {
        return nil
      }
      return (index, graph.nodes[index])
    }

    for index in graph.nodes.indices {
      var node = graph.nodes[index]
      guard let weighted = node.operation as? MatrixProductOperation,
        let softmax = source(node.inputs[0]),
        let rows = softmax.node.operation as? RowSoftmaxOperation, rows.length == weighted.depth,
        weighted.a
          == MatrixWalk(rowMajor: weighted.batch, rows: weighted.rows, columns: weighted.depth)
      else { continue }
      var passed: Set<Int> = [softmax.index]
      var value = softmax.node.inputs[0]
      let shape = weighted.batch + [weighted.rows, weighted.depth]
      var mask: (value: Graph.ValueID, walk: MatrixWalk)?
      if let sum = source(value), let operands = sum.node.operation.summands(of: sum.node) {
        for (scores, other) in [(operands[0], operands[1]), (operands[1], operands[0])]
        where mask == nil {
          // Views add axes of length 1 in front.
          let sizes = graph.shape(other).dimensions
          guard source(scores).map({ isScores($0.node, shape) }) ?? false,
            sizes.count <= shape.count,
            zip(sizes.reversed(), shape.reversed()).allSatisfy({ $0 == 1 || $0 == $1 })
          else { continue }
          mask = (other, MatrixWalk(broadcasting: sizes, to: shape))
          passed.insert(sum.index)
          value = scores
        }
        if mask == nil { continue }
      }
      guard let product = source(value), isScores(product.node, shape),
        let scores = product.node.operation as? MatrixProductOperation
      else { continue }
      passed.insert(product.index)
      node.operation = AttentionOperation(scores: scores, weighted: weighted, mask: mask?.walk)
      node.inputs = product.node.inputs + [node.inputs[1]] + (mask.map { [$0.value] } ?? [])
      node.multiplyAdds += product.node.multiplyAdds
      graph.nodes[index] = node
      removed.formUnion(passed)
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }

  /// Whether the node computes row-major products of the shape.
  private static func isScores(_ node: Graph.Node, _ shape: [Int]) -> Bool {
    guard let product = node.operation as? MatrixProductOperation else { return false }
    return product.batch + [product.rows, product.columns] == shape
      && product.output
        == MatrixWalk(rowMajor: product.batch, rows: product.rows, columns: product.columns)
  }
}

extension NodeOperation {
  /// The two operands of a sum.
  fileprivate func summands(of node: Graph.Node) -> [Graph.ValueID]? {
    let function = (self as? CombineOperation)?.function ?? (self as? BroadcastOperation)?.function
    return function == .add && node.inputs.count == 2 ? node.inputs : nil
  }
}
