import TensorCore

/// Computes at compile time everything that does not depend on an input.
enum ConstantFolding: Pass {
  static let name = "constant-folding"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    var folded: Set<Int> = []
    for index in graph.nodes.indices {
      let node = graph.nodes[index]
      guard node.inputs.allSatisfy({ graph.values[$0].constant != nil }),
        node.operation.isRepeatable
      else { continue }
      for (output, constant) in zip(
        node.outputs, try node.inErrors { try evaluate(node, in: graph, context) })
      {
        graph.values[output].constant = constant
      }
      folded.insert(index)
    }
    graph.removeNodes(folded)
    return !folded.isEmpty
  }

  /// Runs the node on its own.
  private static func evaluate(
    _ node: Graph.Node, in graph: Graph, _ context: PassContext
  ) throws -> [Constant] {
    var small = Graph()
    var alone = node
    alone.inputs = node.inputs.map { input in
      small.addValue("", graph.shape(input), constant: graph.values[input].constant)
    }
    alone.outputs = node.outputs.map { small.addValue("", graph.shape($0)) }
    small.nodes = [alone]
    small.exposed = alone.outputs.map { ("", $0) }
    let plan = try Plan(small, context, maxMemory: nil)
    let executor = try Executor(plan, pool: context.pool, hooks: EngineHooks())
    return try executor.run([]).map { try Constant($0.elements) }
  }
}
