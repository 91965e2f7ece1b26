import Kernels
import TensorCore

/// Computes softmax(scale · query · keyᵀ + mask) · value in one step.
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
      let mask = chain.mask(&value, weighted)
      guard let product = chain.producer(of: value),
        let scores = (product.operation as? MatrixProductOperation)?.withoutUnitAxes,
        scores.batch == weighted.batch, scores.rows == weighted.rows,
        scores.columns == weighted.depth,
        scores.output
          == MatrixWalk(rowMajor: scores.batch, rows: scores.rows, columns: scores.columns)
      else { continue }
      node.operation = AttentionOperation(scores: scores, weighted: weighted, mask: mask?.walk)
      node.inputs = product.inputs + [node.inputs[1]] + (mask.map { [$0.value] } ?? [])
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

  init(graph: Graph, uses: [Int], producers: [Int?]) {
    (self.graph, self.uses, self.producers) = (graph, uses, producers)
  }

  /// Adds the node that computes `value`, and views in between.
  mutating func producer(of value: Graph.ValueID) -> Graph.Node? {
    guard uses[value] == 1, let index = producers[value] else { return nil }
    nodes.insert(index)
    let node = graph.nodes[index]
    return node.operation is ViewOperation ? producer(of: node.inputs[0]) : node
  }

  /// The mask, if `value` is a sum with it; `value` becomes the scores without it.
  mutating func mask(
    _ value: inout Graph.ValueID, _ weighted: MatrixProductOperation
  ) -> (value: Graph.ValueID, walk: MatrixWalk)? {
    var chain = self
    guard let sum = chain.producer(of: value), let operands = sum.operands(of: .add) else {
      return nil
    }
    let shape = graph.shape(sum.outputs[0]).dimensions
    guard shape.suffix(2) == [weighted.rows, weighted.depth],
      shape.dropLast(2).filter({ $0 != 1 }) == weighted.batch
    else { return nil }
    for (scores, mask) in operands {
      // Views add axes of length 1 in front.
      let sizes = graph.shape(mask).dimensions
      guard sizes.count <= shape.count,
        zip(sizes.reversed(), shape.reversed()).allSatisfy({ $0 == 1 || $0 == $1 })
      else { continue }
      var trial = chain
      let before = trial.withoutFactor(scores, mask: mask, length: weighted.depth)
      var product = trial
      guard product.producer(of: before)?.operation is MatrixProductOperation else { continue }
      var walk = MatrixWalk(broadcasting: sizes, to: shape)
      walk.batch = zip(walk.batch, shape).filter { $1 != 1 }.map(\.0)
      (self, value) = (trial, before)
      return (mask, walk)
    }
    return nil
  }

  /// Skips a factor of the scores that is 0 where a constant mask excludes a key and 1 elsewhere.
  private mutating func withoutFactor(
    _ value: Graph.ValueID, mask: Graph.ValueID, length: Int
  ) -> Graph.ValueID {
    var chain = self
    guard let offsets = graph.values[mask].constant?.elements(graph.shape(mask)),
      let operands = chain.producer(of: value)?.operands(of: .multiply)
    else { return value }
    for (scores, factor) in operands {
      guard graph.shape(factor) == graph.shape(mask),
        graph.shape(factor).dimensions.last == length,
        let factors = graph.values[factor].constant?.elements(graph.shape(factor)),
        // Scores below 10⁸ do not change the result, because each query keeps a key.
        zip(factors, offsets).allSatisfy({ $0 == 1 ? $1 == 0 : $0 == 0 && $1 <= -1e9 }),
        stride(from: 0, to: factors.count, by: length).allSatisfy({
          factors[$0..<$0 + length].contains(1)
        })
      else { continue }
      self = chain
      return scores
    }
    return value
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
