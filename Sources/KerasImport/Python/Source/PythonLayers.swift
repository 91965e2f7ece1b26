import Formulas
import TensorCore

/// What following a layer's source needs to know about its objects.
final class PythonLayers {
  /// The weights by their numbers and those of Keras's layers by the numbers of these; nil while they
  /// are being counted.
  let stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]])?
  /// What a function that builds a network calls; nil for a layer's source.
  let graph: PythonGraph?
  private(set) var objectCount = 0
  private(set) var weightCount = 0
  private var elementCount = 0

  init(
    _ stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]])?,
    _ graph: PythonGraph? = nil
  ) {
    (self.stored, self.graph) = (stored, graph)
  }

  func object(_ type: PythonClass?) throws -> PythonObject {
    objectCount += 1
    try require(objectCount <= 4096, .limitExceeded, "it makes more than 4096 objects")
    return PythonObject(type, number: objectCount)
  }

  /// A new weight of an object.
  func weight(
    _ name: String, _ shape: [Int], isTrainable: Bool, of object: PythonObject
  ) throws -> PythonSymbol {
    weightCount += 1
    let count = try checkedProduct(shape, limit: 1 << 24)
    elementCount += count
    try require(elementCount <= 1 << 25, .limitExceeded, "its weights are too large to follow")
    object.weights.append(
      PythonWeight(number: weightCount, name: name, shape: shape, isTrainable: isTrainable))
    var elements = [Double](repeating: 1, count: count)
    if let stored {
      guard let weight = stored.weights[weightCount] else { throw PythonMachine.malformed }
      elements = try weight.values().array().map { Double($0) }
    }
    return shape.isEmpty ? .double(elements[0]) : .array(FormulaArray(shape, elements))
  }
}
