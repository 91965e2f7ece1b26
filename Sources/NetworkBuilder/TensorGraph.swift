import TensorCore

/// The tensors of a network in topological order, and the names of its layers and inputs.
struct TensorGraph {
  let tensors: [NetworkTensor]
  /// The names of inputs, by tensor ID.
  let inputNames: [Int: String]
  /// The names of layers, by the identity of the layer.
  let layerNames: [ObjectIdentifier: String]

  init(inputs: [Input], outputs: [NetworkTensor]) throws {
    try require(!outputs.isEmpty, .mismatch, "the network has no output")
    tensors = Self.ordered(outputs)
    let used = Set(tensors.map(\.id))
    let listed = Set(inputs.map(\.id))
    var names: Set<String> = []
    var inputNames: [Int: String] = [:]
    for (index, input) in inputs.enumerated() {
      let name = input.ownName ?? (inputs.count == 1 ? "input" : "input\(index + 1)")
      try require(used.contains(input.id), .mismatch, "no output depends on input '\(name)'")
      try require(
        inputNames[input.id] == nil && names.insert(name).inserted, .mismatch,
        "two inputs are named '\(name)'")
      inputNames[input.id] = name
    }
    for tensor in tensors {
      if case .input(let name, _) = tensor.source, !listed.contains(tensor.id) {
        throw ModelError(
          .mismatch,
          "the output depends on an input"
            + (name.map { ", '\($0)'," } ?? "") + " that is not among the network's inputs")
      }
    }
    self.inputNames = inputNames
    layerNames = try Self.layerNames(tensors, &names)
  }

  var names: Set<String> { Set(inputNames.values).union(layerNames.values) }

  static func ordered(_ outputs: [NetworkTensor]) -> [NetworkTensor] {
    var ordered: [NetworkTensor] = []
    var visited: Set<Int> = []
    var open: [(tensor: NetworkTensor, next: Int)] = []
    for output in outputs where visited.insert(output.id).inserted {
      open.append((output, 0))
      while let (tensor, next) = open.last {
        let parents = tensor.parents
        guard next < parents.count else {
          ordered.append(tensor)
          open.removeLast()
          continue
        }
        open[open.count - 1].next += 1
        if visited.insert(parents[next].id).inserted { open.append((parents[next], 0)) }
      }
    }
    return ordered
  }

  /// The given names of layers, and then numbered names for the rest.
  private static func layerNames(
    _ tensors: [NetworkTensor], _ names: inout Set<String>
  ) throws -> [ObjectIdentifier: String] {
    var layerNames: [ObjectIdentifier: String] = [:]
    for case .layer(let layer, _) in tensors.map(\.source) {
      guard let name = layer.name, !name.isEmpty, layerNames[ObjectIdentifier(layer)] == nil
      else { continue }
      try require(
        names.insert(name).inserted, .mismatch, "another layer or input has the same name",
        layer: name, layerClass: layer.definition.typeName,
        hint: "to share weights, apply one layer object to several tensors")
      layerNames[ObjectIdentifier(layer)] = name
    }
    var counts: [String: Int] = [:]
    for case .layer(let layer, _) in tensors.map(\.source) {
      guard layerNames[ObjectIdentifier(layer)] == nil else { continue }
      let type = layer.definition.typeName.lowercased()
      var name: String
      repeat {
        counts[type, default: 0] += 1
        name = "\(type)_\(counts[type] ?? 0)"
      } while !names.insert(name).inserted
      layerNames[ObjectIdentifier(layer)] = name
    }
    return layerNames
  }
}

extension NetworkTensor {
  var parents: [NetworkTensor] { if case .layer(_, let tensors) = source { tensors } else { [] } }

  /// The name given to an input.
  fileprivate var ownName: String? {
    if case .input(let name?, _) = source, !name.isEmpty { name } else { nil }
  }

  var isInput: Bool { if case .input = source { true } else { false } }

  /// The resize that produces the tensor from an input, if any.
  var resize: ResizeDefinition? {
    guard case .layer(let layer, let tensors) = source, tensors.count == 1, tensors[0].isInput
    else { return nil }
    return layer.definition as? ResizeDefinition
  }
}
