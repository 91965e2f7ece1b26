extension KerasGraph {
  /// The blob with each node's output. A blob that passes through a node stays assigned to the node
  /// that computed it. Further outputs of a node are `NAME:1`, `NAME:2`, …; the last ones of a
  /// recurrent layer are its states, whether or not the network uses them.
  ///
  /// - Parameters:
  ///   - states: the blobs of each recurrent node's states that are outputs of the model.
  ///   - outputs: the blobs of the model's outputs, which may be copies in another layout.
  func sourceBlobs(
    _ tensors: [[KerasTensor]?], states: [Int: [String]], outputs: [String]
  ) -> [String: String] {
    func label(_ node: Int, _ index: Int) -> String {
      index == 0 ? nodes[node].name : "\(nodes[node].name):\(index)"
    }
    var result: [String: String] = [:]
    var seen = Set(inputs.compactMap { tensors[$0]?.first?.blob })
    for (node, results) in tensors.enumerated() {
      let results = results ?? []
      for (index, tensor) in results.enumerated() where seen.insert(tensor.blob).inserted {
        if tensor.isShapeAssumed || tensor.sizes != nil || tensor.table != nil
          || tensor.leading != nil
        {
          continue
        }
        result[label(node, index)] = tensor.blob
      }
      let states = states[node] ?? []
      let first = results.count > states.count ? results.count - states.count : results.count
      for (index, state) in states.enumerated() { result[label(node, first + index)] = state }
      seen.formUnion(states)
    }
    for (reference, blob) in zip(self.outputs, outputs) where seen.insert(blob).inserted {
      if tensors[reference.node]?[reference.tensor].isShapeAssumed == true { continue }
      result[label(reference.node, reference.tensor)] = blob
    }
    return result
  }
}
