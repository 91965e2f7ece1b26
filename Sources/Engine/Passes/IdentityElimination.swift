/// Removes nodes whose output equals their input, with the same order and shape, and lets other
/// nodes read through views that only add or remove axes of length 1, which kernels ignore.
enum IdentityElimination: Pass {
  static let name = "identity-elimination"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    var removed: Set<Int> = []
    // The replacement for each value; a node's inputs are replaced before the node is examined.
    var standIns: [Graph.ValueID: Graph.ValueID] = [:]
    /// The same planes with another shape.
    var planes: [Graph.ValueID: Graph.ValueID] = [:]
    var changed = false
    for index in graph.nodes.indices {
      for position in graph.nodes[index].inputs.indices {
        if let other = standIns[graph.nodes[index].inputs[position]] {
          graph.nodes[index].inputs[position] = other
        }
        // Other passes read the shapes of broadcast operands.
        if !(graph.nodes[index].operation is BroadcastOperation),
          let other = planes[graph.nodes[index].inputs[position]]
        {
          graph.nodes[index].inputs[position] = other
          changed = true
        }
      }
      let node = graph.nodes[index]
      if (node.operation as? ViewOperation)?.keepsPlanes ?? false {
        planes[node.outputs[0]] = node.inputs[0]
      }
      guard node.inputs.count == 1, node.outputs.count == 1,
        graph.shape(node.inputs[0]) == graph.shape(node.outputs[0]), isIdentity(node.operation)
      else { continue }
      standIns[node.outputs[0]] = node.inputs[0]
      removed.insert(index)
    }
    for index in graph.exposed.indices {
      if let other = standIns[graph.exposed[index].value] { graph.exposed[index].value = other }
    }
    graph.removeNodes(removed)
    return changed || !removed.isEmpty
  }

  private static func isIdentity(_ operation: any NodeOperation) -> Bool {
    if operation is ViewOperation { return true }
    if let elementwise = operation as? ElementwiseOperation {
      return elementwise.function.isIdentity
    }
    return false
  }
}
