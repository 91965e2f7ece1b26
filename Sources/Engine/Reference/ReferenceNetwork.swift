import CoreMLModel
import CustomLayers
import TensorCore

/// A model, executed layer by layer in double precision on dense row-major arrays: the reference
/// for the tests and for `diff --reference`.
package struct ReferenceNetwork {
  private let network: NeuralNetwork
  private let description: ModelDescription
  private let outputNames: [String]
  private let settings: ReferenceSettings
  private let maxMemory: Int

  /// - Parameter maxMemory: limit in bytes for all blobs together; nil means the machine's memory.
  /// - Throws: `ModelError` if the model is not a neural network, or has a layer from a later
  ///   specification version.
  package init(
    model: Model, customLayers: CustomLayerRegistry = CustomLayerRegistry(),
    addsForgetBias: Bool = false, maxMemory: Int? = nil
  ) throws {
    guard let network = model.neuralNetwork else {
      throw ModelError(.unsupported, "the model is not a neural network")
    }
    self.network = network
    self.maxMemory = maxMemory ?? MachineMemory.byteCount
    description = model.description ?? ModelDescription()
    settings = ReferenceSettings(addsForgetBias: addsForgetBias, customLayers: customLayers)
    let blobs = Set(network.layers.flatMap(\.output))
    var names = description.output.map(\.name).filter(blobs.contains)
    if case .neuralNetworkClassifier(let classifier) = model.type {
      if let probabilities = classifier.probabilitiesBlob, !names.contains(probabilities) { names.append(probabilities) }
    }
    outputNames = names
    for layer in network.layers where !(layer.parameters is any ReferenceLayer) {
      throw ModelError(
        .unsupported, "this type of layer is not supported", layer: layer.name,
        layerClass: layer.parameters?.typeName)
    }
  }

  /// The outputs for inputs with the network's shapes. Images are before preprocessing, with
  /// channels in the order of their color space. A missing optional input is zero.
  /// - Parameter blobs: more blobs to return; nil returns all of them.
  package func predict(
    _ inputs: [String: ReferenceTensor], blobs: Set<String>? = []
  ) throws -> [String: ReferenceTensor] {
    var values = try preprocessed(inputs)
    let wanted = blobs.map { $0.union(outputNames) }
    var lastUse: [String: Int] = [:]
    for (index, layer) in network.layers.enumerated() {
      for name in layer.input { lastUse[name] = index }
    }
    for (index, layer) in network.layers.enumerated() {
      do {
        let outputs = try evaluate(layer, at: index, values)
        for (name, output) in zip(layer.output, outputs) { values[name] = output }
      } catch let error as ModelError {
        throw error.inLayer(layer.name, class: layer.parameters?.typeName)
      }
      guard let wanted else { continue }
      for name in layer.input where lastUse[name] == index && !wanted.contains(name) {
        values[name] = nil
      }
    }
    return wanted.map { names in values.filter { names.contains($0.key) } } ?? values
  }

  private func evaluate(
    _ layer: NeuralNetworkLayer, at index: Int, _ values: [String: ReferenceTensor]
  ) throws -> [ReferenceTensor] {
    guard let parameters = layer.parameters as? any ReferenceLayer else {
      throw ModelError(.unsupported, "this type of layer is not supported")
    }
    let type = type(of: parameters)
    try require(type.inputCount.contains(layer.input.count), "has \(layer.input.count) inputs")
    try require(type.outputCount.contains(layer.output.count), "has \(layer.output.count) outputs")
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
    if !(parameters is Custom) {
      try checkMemory(try parameters.blobShapes(inputs.map(\.shape)), taken: taken)
    }
    var settings = settings
    settings.layerIndex = index
    let outputs = try parameters.exactReferenceOutputs(inputs, settings)
    try require(
      outputs.count >= layer.output.count, "has \(layer.output.count) outputs, not \(outputs.count)"
    )
    return outputs
  }

  private func checkMemory(_ shapes: [[Int]], taken: Int) throws {
    let counts = try shapes.map { try checkedProduct($0, limit: Limits.tensorElements) }
    let byteCount = try checkedProduct([try checkedSum(counts + [taken]), 8])
    try require(
      byteCount <= maxMemory, .outOfMemory,
      "double precision takes \(byteCount) bytes, more than \(maxMemory)")
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
