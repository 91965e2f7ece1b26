/// Removes nodes whose outputs are never read.
///
/// Keeps custom layers, which may have side effects.
enum DeadCode: Pass {
  static let name = "dead-code"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    var needed = graph.exposedValues
    var dead: Set<Int> = []
    for index in graph.nodes.indices.reversed() {
      let node = graph.nodes[index]
      if node.outputs.contains(where: needed.contains) || node.operation is CustomOperation {
        needed.formUnion(node.inputs)
      } else {
        dead.insert(index)
      }
    }
    graph.removeNodes(dead)
    return !dead.isEmpty
  }
}
