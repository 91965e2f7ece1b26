import CoreMLModel
import TensorCore

/// Converts the layers of a network, and of networks nested in it, to operations.
struct NetworkLowering {
  /// A layer that no operation can express, and the reason.
  typealias Failure = (layer: String, type: String, error: ModelError)

  /// The blobs and values known at a layer.
  struct Scope {
    var blobs: [String: Variable]
    var inferred: InferredShapes
    /// Values of small constants, from which sizes are computed.
    var values: [String: [Float]] = [:]
    /// The blobs that are read after the network.
    var live: Set<String>
    /// Whether the network is nested in another one, which names the blobs that both share.
    var isInside = false

    func variableName(_ blob: String) -> String {
      isInside && live.contains(blob) ? blob + "_inside" : blob
    }
  }

  let builder: ProgramBuilder
  let options: ProgramOptions

  /// Adds the operations of all layers, and records the layers that have none.
  func lower(_ network: NeuralNetwork, _ scope: inout Scope, _ failures: inout [Failure]) throws {
    let layers = network.layers
    for (index, layer) in layers.enumerated() {
      let type = layer.parameters?.specificationTypeName ?? ""
      let label = layer.label(at: index)
      do {
        if layer.parameters is any ControlLayer {
          let later = layers[(index + 1)...].reduce(into: scope.live) { $0.formUnion($1.blobsRead) }
          let inside = scope.inferred.inside[index] ?? []
          try control(
            ControlCall(layer: layer, label: label, inside: inside, live: later), &scope, &failures)
          continue
        }
        let mark = builder.operations.count
        let precision = try self.type(layer, label)
        let results = try results(layer, label, precision, scope)
        var renamed: [String: Variable] = [:]
        for (name, result) in zip(layer.output, results) {
          if renamed[result.name] == nil, builder.wrote(result, since: mark) {
            renamed[result.name] = builder.rename(
              result, to: scope.variableName(name), since: mark)
          }
          let blob = renamed[result.name] ?? result
          if precision != options.precision, !options.keptInFloat32.contains(label) {
            builder.saturating.insert(blob.name)
          }
          scope.blobs[name] = blob
        }
        scope.values[layer.output.first ?? ""] = layer.parameters.flatMap {
          $0.knownValues(layer.input.compactMap { scope.inferred.shapes[$0] })
        }
      } catch let error as ModelError where error.code == .unsupported {
        failures.append((label, type, error))
        // Later layers are checked with the shapes that they would receive.
        for name in layer.output + layer.blobsWrittenInside {
          let shape = try scope.inferred.shapes[name].orThrow(error.inLayer(label, class: type))
          scope.blobs[name] = Variable(name: name, type: options.precision, shape: shape)
        }
      } catch let error as ModelError {
        throw error.inLayer(label, class: type)
      }
    }
  }

  private func results(
    _ layer: NeuralNetworkLayer, _ label: String, _ precision: MILDataType, _ scope: Scope
  ) throws -> [Variable] {
    guard var parameters = layer.parameters else {
      throw ModelError(.malformed, "the layer has no type")
    }
    let shapes = scope.inferred.shapes
    var names = layer.input
    var inputShapes = try names.map { name in
      try shapes[name].orThrow(
        ModelError(.unsupported, "the shape of '\(name)' depends on values, which is not supported")
      )
    }
    if let dynamic = parameters as? any DynamicLayer {
      let deciding = dynamic.decidingInputs(names.count)
      let known = deciding.compactMap { scope.values[names[$0]] }
      if !deciding.isEmpty, known.count == deciding.count {
        parameters = try dynamic.resolved(inputShapes, known)
        names = dynamic.keptInputs(names.count).map { names[$0] }
        inputShapes = names.compactMap { shapes[$0] }
      } else if !deciding.isEmpty, Swift.type(of: dynamic).sizesDependOnValues {
        throw ModelError(.unsupported, "sizes that depend on values are not supported")
      }
    }
    let outputShapes = try layer.output.map { name in
      try shapes[name].orThrow(
        ModelError(.unsupported, "the shape of '\(name)' is not known"))
    }
    let operation = try (parameters as? any OperationLayer).orThrow(
      ModelError(.unsupported, "ML Programs have no operation for it"))
    let variables = try names.map { try variable($0, scope) }
    return try operation.operations(
      LayerCall(
        name: label, builder: builder, inputs: variables, inputShapes: inputShapes,
        outputShapes: outputShapes, vectorRank: Swift.type(of: parameters).vectorRank,
        type: precision, options: options))
  }

  func variable(_ name: String, _ scope: Scope) throws -> Variable {
    try scope.blobs[name].orThrow(
      ModelError(.malformed, "no layer produces '\(name)'", field: "input"))
  }

  /// The compute type of the layer: single precision if half precision cannot represent a weight or
  /// a number of its function.
  private func type(_ layer: NeuralNetworkLayer, _ label: String) throws -> MILDataType {
    if options.precision == .float32 || options.keptInFloat32.contains(label) { return .float32 }
    let numbers = (layer.parameters as? Activation)?.function?.row.numbers ?? []
    if numbers.contains(where: Half.overflows) { return .float32 }
    for weight in layer.parameters?.weights ?? [] {
      if try weight.decoded().array().contains(where: Half.overflows) { return .float32 }
    }
    return options.precision
  }
}

extension NeuralNetworkLayer {
  /// The blobs that the layer and its nested networks read.
  var blobsRead: Set<String> {
    guard let control = parameters as? any ControlLayer else { return Set(input) }
    var read = Set(input)
    if let loop = control as? Loop { read.insert(loop.conditionVar) }
    return control.networks.reduce(into: read) { $0.formUnion($1.blobsRead) }
  }
}

extension NeuralNetwork {
  var blobsRead: Set<String> { layers.reduce(into: []) { $0.formUnion($1.blobsRead) } }
}
