import CoreMLModel
import TensorCore

/// Blobs without elements are not in the graph: the result of a layer that reads one is either
/// empty or follows from the other inputs.
extension GraphBuilder {
  mutating func setEmpty(_ name: String, _ shape: [Int]) {
    empty[name] = shape
    blobs[name] = nil
  }

  /// Adds a layer with at least one empty input; returns false if it has to wait for values.
  mutating func addEmpty(_ placed: PlacedLayer, _ context: PassContext) throws -> Bool {
    var layer = placed.layer
    guard var parameters = layer.parameters else { return true }
    let given = try layer.input.map { name in
      if let shape = empty[name] { return shape }
      guard let value = blobs[name] else {
        throw ModelError(
          .malformed, "neither an input nor an earlier layer produces the blob '\(name)'",
          field: "input")
      }
      return graph.shape(value).dimensions
    }
    var kept = Array(given.indices)
    if let dynamic = parameters as? any DynamicLayer,
      case let deciding = dynamic.decidingInputs(given.count), !deciding.isEmpty
    {
      var known: [[Float]] = []
      for position in deciding {
        guard let blob = blobs[layer.input[position]] else {
          known.append([])
          continue
        }
        guard let elements = try values([blob], context) else { return false }
        known += elements
      }
      parameters = try dynamic.resolved(given, known)
      layer.parameters = parameters
      kept = dynamic.keptInputs(given.count)
    }
    let (names, shapes) = (kept.map { layer.input[$0] }, kept.map { given[$0] })
    if let shape = try parameters.emptyShape(shapes) {
      setEmpty(layer.output[0], shape)
      return true
    }
    if !shapes.contains(where: { $0.contains(0) }) {
      try add(layer, placed.position, names.compactMap { blobs[$0] })
      return true
    }
    switch try parameters.result(ofEmpty: shapes) {
    case .empty(let shapes):
      for (name, shape) in zip(layer.output, shapes) { setEmpty(name, shape) }
    case .input(let position): blobs[layer.output[0]] = blobs[names[position]]
    case .inputs(let positions) where positions.count == 1:
      blobs[layer.output[0]] = blobs[names[positions[0]]]
    case .inputs(let positions):
      try add(layer, placed.position, positions.compactMap { blobs[names[$0]] })
    case .elements(let shape, let values):
      let shape = try Shape(shape)
      let constant = try Constant(values)
      blobs[layer.output[0]] = graph.addValue(layer.output[0], shape, constant: constant)
    }
    return true
  }
}
