extension KerasGraph {
  /// The blob that holds what each node computes; one that only passes through a node remains that of
  /// the node before.
  func sourceBlobs(_ tensors: [[KerasTensor]?]) -> [String: String] {
    var result: [String: String] = [:]
    var seen = Set(inputs.compactMap { tensors[$0]?.first?.blob })
    for (node, outputs) in zip(nodes, tensors) {
      for (index, tensor) in (outputs ?? []).enumerated() where seen.insert(tensor.blob).inserted {
        if tensor.isGuess || tensor.sizes != nil || tensor.leading != nil { continue }
        result[index == 0 ? node.name : "\(node.name):\(index)"] = tensor.blob
      }
    }
    return result
  }
}
