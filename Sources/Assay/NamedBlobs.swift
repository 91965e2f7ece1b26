import CoreMLModel

extension Model {
  /// The blob that a user's name means: a blob, an input's after its preprocessing among them, or
  /// the first output of a layer, of one with an activation of its own the activation's. Nil where
  /// there is neither.
  public func blob(named name: String) -> String? {
    let layers = neuralNetwork?.layers ?? []
    if layers.contains(where: { $0.output.contains(name) }) { return name }
    let layer =
      layers.last { $0.name == name + "__activation__" } ?? layers.last { $0.name == name }
    if let layer { return layer.output.first }
    return description?.input.contains { $0.name == name } == true ? name : nil
  }
}
