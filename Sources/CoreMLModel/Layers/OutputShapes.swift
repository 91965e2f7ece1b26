import TensorCore

extension LayerParameters {
  // Replaced, layer by layer, by each type's own rule.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    throw ModelError(.unsupported, "the output shape of a \(typeName) layer is not known yet")
  }
}
