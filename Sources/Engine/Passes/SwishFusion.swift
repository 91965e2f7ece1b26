/// Replaces x · sigmoid(β·x), which converters write as two or three layers, with
/// x / (1 + exp(−β·x)).
enum SwishFusion: Pass {
  static let name = "swish-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let producers = graph.producers()
    var changed = false
    for index in graph.nodes.indices {
      let product = graph.nodes[index]
      guard (product.operation as? CombineOperation)?.function == .multiply,
        product.inputs.count == 2
      else { continue }
      for (x, gate) in [(0, 1), (1, 0)] {
        guard
          let factor = factor(
            of: product.inputs[x], in: product.inputs[gate], graph, producers)
        else { continue }
        graph.nodes[index].operation = ElementwiseOperation(
          function: ScaledFunction(.swish, alpha: factor))
        graph.nodes[index].inputs = [product.inputs[x]]
        changed = true
        break
      }
    }
    return changed
  }

  /// β, if `gate` is sigmoid(β·x).
  private static func factor(
    of x: Graph.ValueID, in gate: Graph.ValueID, _ graph: Graph, _ producers: [Int?]
  ) -> Float? {
    guard let producer = producers[gate],
      let sigmoid = graph.nodes[producer].operation as? ElementwiseOperation,
      sigmoid.function.function == .sigmoid, sigmoid.function.shift == 0
    else { return nil }
    let argument = graph.nodes[producer].inputs[0]
    if argument == x { return sigmoid.function.scale }
    guard let before = producers[argument], graph.nodes[before].inputs == [x],
      let linear = graph.nodes[before].operation as? ElementwiseOperation,
      linear.function.function == .linear, linear.function.shift == 0,
      linear.function.beta.isAlways(0), case .scalar(let slope) = linear.function.alpha
    else { return nil }
    return sigmoid.function.scale * slope * linear.function.scale
  }
}
