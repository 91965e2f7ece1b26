/// Replaces a producer and its only reader with the result of `combine`, if nothing else reads the
/// value in between.
///
/// - Parameters:
///   - position: the reader's input that the producer writes; nil for its only input.
///   - combine: receives the producer, the reader and the number of channels between them.
func fuse(
  _ graph: inout Graph, input position: Int? = nil,
  _ combine: (Graph.Node, Graph.Node, Int) throws -> (any NodeOperation)?
) throws -> Bool {
  var uses = graph.useCounts()
  var producers = graph.producers()
  var removed: Set<Int> = []
  for index in graph.nodes.indices {
    let node = graph.nodes[index]
    let input = position ?? 0
    guard node.outputs.count == 1, node.inputs.indices.contains(input),
      position != nil || node.inputs.count == 1
    else { continue }
    let between = node.inputs[input]
    guard uses[between] == 1, let producer = producers[between],
      graph.nodes[producer].outputs.count == 1
    else { continue }
    let before = graph.nodes[producer]
    let operation = try node.inErrors {
      try combine(before, node, graph.shape(between).channels)
    }
    guard let operation else { continue }
    graph.nodes[index].operation = operation
    graph.nodes[index].inputs.replaceSubrange(input...input, with: before.inputs)
    graph.nodes[index].multiplyAdds += before.multiplyAdds
    if type(of: operation) == type(of: before.operation) {
      graph.nodes[index].layerType = before.layerType
      graph.nodes[index].name = before.name
    }
    removed.insert(producer)
    uses[between] = 0
    producers[between] = nil
  }
  graph.removeNodes(removed)
  return !removed.isEmpty
}
