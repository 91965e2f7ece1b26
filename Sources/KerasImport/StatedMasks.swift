import ImportSupport
import TensorCore

extension KerasConversion {
  /// Gives the inputs of a call the masks that it states.
  mutating func stateMasks(
    _ node: KerasGraph.Node, _ inputs: inout [KerasTensor]
  ) throws(ModelError) {
    for (index, reference) in node.masks.enumerated() where inputs.indices.contains(index) {
      guard let reference else {
        inputs[index].mask = nil
        continue
      }
      if let own = inputs[index].mask, isRecorded(reference, own) { continue }
      guard let mask = mask(reference) else {
        throw ModelError(
          .unsupported, "the mask passed to it is not supported",
          layer: node.name, layerClass: node.layer.className,
          hint: "a mask (batch, steps) and those of Embedding and Masking are supported")
      }
      inputs[index].mask = mask
    }
  }

  /// A mask that the model computes: one number per step.
  private mutating func mask(_ reference: KerasGraph.Reference) -> StepMask? {
    if tensors[reference.node] == nil { convertAll(upTo: reference.node) }
    guard let outputs = tensors[reference.node], reference.tensor < outputs.count,
      outputs[reference.tensor].rank == 2
    else { return nil }
    return .given(outputs[reference.tensor])
  }

  /// Whether operations compute the mask that an input carries: Keras 3 records those of Embedding,
  /// Masking and merging layers, and states their results as `mask`.
  private func isRecorded(_ reference: KerasGraph.Reference, _ own: StepMask) -> Bool {
    let node = graph.nodes[reference.node]
    func tensor(_ input: KerasGraph.Reference) -> KerasTensor? {
      let outputs = tensors[input.node] ?? []
      return outputs.indices.contains(input.tensor) ? outputs[input.tensor] : nil
    }
    /// Whether this is `tensor != value`.
    func differs(_ node: KerasGraph.Node, _ tensor: KerasTensor, from value: Double) -> Bool {
      guard node.layer.className == "NotEqual", node.inputs.count == 1,
        node.arguments.positional.last?.constant?.double == value
      else { return false }
      var input = node.inputs[0]
      while graph.nodes[input.node].layer.className == "Cast",
        graph.nodes[input.node].inputs.count == 1
      {
        input = graph.nodes[input.node].inputs[0]
      }
      return [tensors[input.node], tensors[node.inputs[0].node]].contains {
        $0?.first?.blob == tensor.blob
      }
    }
    if case .given(let other) = own, let known = tensor(reference) {
      return known.blob == other.blob
    }
    guard node.layer.isOperation else { return false }
    let (parts, functions) =
      switch own {
      case .any(let masks): (masks, ["LogicalOr"])
      case .all(let masks): (masks, ["LogicalAnd"])
      default: ([own], ["LogicalOr", "LogicalAnd"])
      }
    if functions.contains(node.layer.className), node.inputs.count == 2 {
      return node.inputs.allSatisfy { input in parts.contains { isRecorded(input, $0) } }
    }
    switch own {
    case .nonzero(let tensor): return differs(node, tensor, from: 0)
    case .differs(let tensor, let value):
      return node.layer.className == "Any" && node.inputs.count == 1
        && differs(graph.nodes[node.inputs[0].node], tensor, from: Double(value))
    // What Keras computes for these is not compared.
    case .joined, .step, .some: return true
    case .any, .all, .given: return false
    }
  }

  /// Converts a node that only masks need, and all nodes that it depends on.
  private mutating func convertAll(upTo index: Int) {
    var needed: Set<Int> = [index]
    for node in (0...index).reversed() where needed.contains(node) {
      if tensors[node] == nil { needed.formUnion(graph.nodes[node].inputs.map(\.node)) }
    }
    for node in needed.sorted() where tensors[node] == nil {
      if handlers[node] == nil {
        let layer = graph.nodes[node].layer
        handlers[node] = try? handler(
          layer,
          CustomLayerSubject(
            layer: graph.nodes[node].name, layerClass: layer.className, function: nil),
          inputCount: graph.nodes[node].inputs.count)
      }
      convert(node)
    }
  }
}
