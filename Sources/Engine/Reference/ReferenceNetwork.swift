import CoreMLModel
import CustomLayers
import TensorCore

/// Executes a model layer by layer in double precision on dense row-major arrays: the reference for
/// tests and for `diff --reference`.
package struct ReferenceNetwork {
  private let network: NeuralNetwork
  private let layers: [PlacedLayer]
  private let description: ModelDescription
  private let outputNames: [String]
  private let settings: ReferenceSettings
  private let maxMemory: Int
  private let halfSums: Set<String>

  /// - Parameters:
  ///   - seed: determines the numbers of random layers.
  ///   - halfSums: the first outputs of the layers with sums in half precision.
  ///   - maxMemory: bytes for all blobs together; nil means the machine's memory.
  /// - Throws: `ModelError` if the model is not a neural network, or has a layer of a later
  ///   specification version.
  package init(
    model: Model, customLayers: CustomLayerRegistry = CustomLayerRegistry(),
    seed: UInt64 = 0, halfSums: Set<String> = [], maxMemory: Int? = nil
  ) throws {
    guard let network = model.neuralNetwork else {
      throw ModelError(.unsupported, "the model is not a neural network")
    }
    self.network = network
    self.maxMemory = maxMemory ?? MemoryBudget.limit
    self.halfSums = halfSums
    description = model.description ?? ModelDescription()
    settings = ReferenceSettings(customLayers: customLayers, seed: seed)
    layers = try PlacedLayer.layers(of: network)
    let all = layers.flatMap(\.all).map(\.layer)
    let blobs = Set(all.flatMap(\.output))
    var names = description.output.map(\.name).filter(blobs.contains)
    if case .neuralNetworkClassifier(let classifier) = model.type {
      if let probabilities = classifier.probabilitiesBlob, !names.contains(probabilities) {
        names.append(probabilities)
      }
    }
    outputNames = names
    for layer in all where !(layer.parameters is any ReferenceLayer) {
      throw ModelError(
        .unsupported, "this type of layer is not supported", layer: layer.name,
        layerClass: layer.parameters?.typeName)
    }
  }

  /// The outputs for inputs with the network's shapes. Images are given before preprocessing, with
  /// channels in the order of their color space. A missing optional input is zero.
  /// - Parameter blobs: more blobs to return; nil returns all of them.
  package func predict(
    _ inputs: [String: ReferenceTensor], blobs: Set<String>? = []
  ) throws -> [String: ReferenceTensor] {
    var state = State(values: try preprocessed(inputs), wanted: blobs?.union(outputNames))
    // Blobs that nested networks read are kept to the end.
    if layers.allSatisfy({ $0.networks.isEmpty }) {
      for (index, placed) in layers.enumerated() {
        for name in placed.layer.input { state.lastUse[name] = index }
      }
    }
    _ = try evaluate(layers, &state)
    let results =
      state.wanted.map { names in state.values.filter { names.contains($0.key) } } ?? state.values
    // Core ML's arrays have at least one axis.
    return results.mapValues { $0.shape.isEmpty ? $0.reshaped([1]) : $0 }
  }

  private struct State {
    var values: [String: ReferenceTensor]
    /// The blobs to return; nil for all.
    var wanted: Set<String>?
    /// The index of the last layer that needs each blob.
    var lastUse: [String: Int] = [:]
    var runs = LoopRuns()
  }

  private enum Outcome { case done, left, next }

  private func evaluate(_ layers: [PlacedLayer], _ state: inout State) throws -> Outcome {
    for placed in layers {
      try TimeBudget.require()
      let layer = placed.layer
      func number(_ name: String?) throws -> Double? {
        guard let name else { return nil }
        guard let value = state.values[name]?.elements.first else {
          throw ModelError(.mismatch, "its input '\(name)' has no value")
        }
        return value
      }
      switch layer.parameters {
      case is LoopBreak: return .left
      case is LoopContinue: return .next
      case is Branch:
        let isTrue = try placed.inErrors { try number(layer.input.first) ?? 0 }.isTrue
        let outcome = try evaluate(placed.networks[isTrue ? 0 : 1], &state)
        if outcome != .done { return outcome }
      case let loop as Loop:
        let count = try placed.inErrors { try loop.runCount(try number(layer.input.first)) }
        var done = 0
        while count.map({ done < $0 }) ?? true {
          if !placed.networks[0].isEmpty {
            _ = try evaluate(placed.networks[0], &state)
            guard try placed.inErrors({ try number(loop.conditionVar) ?? 0 }).isTrue else { break }
          }
          try placed.inErrors { try state.runs.begin() }
          if try evaluate(placed.networks[1], &state) == .left { break }
          done += 1
        }
      default:
        let outputs = try placed.inErrors {
          try evaluate(layer, at: placed.position, state.values, round: state.runs.count)
        }
        for (name, output) in zip(layer.output, outputs) { state.values[name] = output }
        guard let wanted = state.wanted else { continue }
        for name in layer.input
        where state.lastUse[name] == placed.position && !wanted.contains(name) {
          state.values[name] = nil
        }
      }
    }
    return .done
  }

  private func evaluate(
    _ layer: NeuralNetworkLayer, at index: Int, _ values: [String: ReferenceTensor], round: Int
  ) throws -> [ReferenceTensor] {
    guard var parameters = layer.parameters as? any ReferenceLayer else {
      throw ModelError(.unsupported, "this type of layer is not supported")
    }
    let type = type(of: parameters)
    try require(
      type.inputCount.contains(layer.input.count), "has \(counted(layer.input.count, "input"))")
    try require(
      type.outputCount.contains(layer.output.count), "has \(counted(layer.output.count, "output"))")
    let taken = values.values.reduce(0) { $0 + $1.elements.count }
    var inputs: [ReferenceTensor] = []
    for name in layer.input {
      if let value = values[name] {
        inputs.append(value)
      } else if let first = inputs.first, let size = optionalSize(name) {
        let shape = [1, first.batch, size, 1, 1]
        try checkMemory([shape], taken: taken)
        inputs.append(ReferenceTensor(shape: shape))
      } else {
        throw ModelError(.mismatch, "its input '\(name)' has no value")
      }
    }
    if let dynamic = parameters as? any DynamicLayer,
      case let deciding = dynamic.decidingInputs(inputs.count), !deciding.isEmpty,
      let fixed = try dynamic.resolved(
        inputs.map { Swift.type(of: dynamic).seenShape($0.shape) },
        deciding.map { inputs[$0].elements.map(Float.init) })
        as? any ReferenceLayer
    {
      inputs = dynamic.keptInputs(inputs.count).map { inputs[$0] }
      parameters = fixed
      if let shape = try fixed.emptyShape(inputs.map(\.shape)) {
        return [ReferenceTensor(shape: shape)]
      }
    }
    if inputs.contains(where: { $0.shape.contains(0) }) {
      switch try parameters.result(ofEmpty: inputs.map(\.shape)) {
      case .empty(let shapes): return shapes.map { ReferenceTensor(shape: $0) }
      case .input(let position): return [inputs[position]]
      case .inputs(let positions) where positions.count == 1: return [inputs[positions[0]]]
      case .inputs(let positions): inputs = positions.map { inputs[$0] }
      case .elements(let shape, let values):
        return [ReferenceTensor(shape: shape, values.map(Double.init))]
      }
    }
    if !(parameters is Custom) {
      try checkMemory(try parameters.blobShapes(inputs.map(\.shape)), taken: taken)
    }
    var settings = settings
    settings.layerIndex = index
    settings.round = round
    settings.hasHalfSums = layer.output.first.map(halfSums.contains) ?? false
    let outputs = try parameters.exactReferenceOutputs(inputs, settings)
    try require(
      outputs.count >= layer.output.count,
      "has \(counted(layer.output.count, "output")), not \(outputs.count)"
    )
    return outputs
  }

  private func checkMemory(_ shapes: [[Int]], taken: Int) throws {
    let counts = try shapes.map { try checkedProduct($0, limit: Limits.tensorElements) }
    let byteCount = try checkedProduct([try checkedSum(counts + [taken]), 8])
    guard byteCount > maxMemory else { return }
    throw MemoryBudget.refusal("double precision needs \(byteCount) bytes", limit: maxMemory)
  }

  /// The size of an optional input, such as the state of a recurrent layer.
  private func optionalSize(_ name: String) -> Int? {
    guard
      let type = description.input.first(where: { $0.name == name })?.type, type.isOptional,
      case .multiArray(let array) = type.kind, let size = array.shape.first, size > 0,
      size <= Limits.dimension
    else { return nil }
    return size
  }

  private func preprocessed(
    _ inputs: [String: ReferenceTensor]
  ) throws -> [String: ReferenceTensor] {
    var values = inputs
    let images = description.input.compactMap { feature in
      if case .image(let image) = feature.type?.kind { (feature.name, image) } else { nil }
    }
    for step in network.preprocessing {
      let image =
        step.featureName.isEmpty ? images.first : images.first { $0.0 == step.featureName }
      guard let (name, type) = image, let value = values[name] else { continue }
      values[name] = try step.referenceOutput(value, type.colorSpace)
    }
    return values
  }
}
