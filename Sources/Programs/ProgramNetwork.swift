import CoreMLModel
import TensorCore

extension Model {
  /// The program as a neural network, for inputs of these shapes; nil if the model is another.
  ///
  /// The layers compute in single precision. States start with zeros.
  ///
  /// - Parameter shapes: shapes of inputs that differ from the declared ones.
  /// - Throws: `.unsupported` with the name of the first operation that has no layers; `.malformed`
  ///   if types or shapes differ from those that the program states.
  package func programNetwork(shapes: [String: [Int]] = [:]) throws -> Model? {
    guard case .mlProgram(let program)? = type else { return nil }
    guard let description else {
      throw ModelError(.malformed, "the model has no description of its inputs and outputs")
    }
    let name = description.programFunction
    guard let function = program.function(name), let body = function.body else {
      throw ModelError(.malformed, "the program has no function '\(name)'")
    }
    let lowering = ProgramLowering(program)
    for input in function.inputs {
      let feature = description.input.first { $0.name == input.name }
      try inInput(input.name) {
        let value = try Self.value(input, feature, shapes[input.name], lowering)
        lowering.define(input.name, value)
      }
    }
    try lowering.lower(body)
    var network = NeuralNetwork()
    for output in description.output where !lowering.isClass(output) {
      let value = try lowering.value(output.name)
      if value.blob != output.name {
        try lowering.copy(value, to: output.name, name: output.name)
      }
    }
    network.layers = lowering.layers
    network.arrayInputShapeMapping = .exact
    network.imageInputShapeMapping = .rank4
    var model = self
    if let classes = lowering.classes {
      var classifier = NeuralNetworkClassifier()
      classifier.network = network
      classifier.classLabels = classes.labels
      classifier.labelProbabilityLayerName = classes.probabilities
      model.type = .neuralNetworkClassifier(classifier)
    } else {
      model.type = .neuralNetwork(network)
    }
    return model
  }

  private static func value(
    _ input: MILNamedType, _ feature: FeatureDescription?, _ given: [Int]?,
    _ lowering: ProgramLowering
  ) throws -> ProgramValue {
    guard let tensor = input.type?.tensor else {
      throw ModelError(.unsupported, "an input that is not a tensor")
    }
    if case .state? = input.type?.kind {
      guard let shape = tensor.shape else {
        throw ModelError(.unsupported, "a state of unknown size")
      }
      var zeros = FillStatic()
      zeros.targetShape = shape.isEmpty ? [1] : shape
      let blob = try lowering.append(zeros, [], name: input.name)[0]
      lowering.states[input.name] = ProgramValue(blob: blob, tensor.dataType, shape)
      return ProgramValue(state: input.name, tensor.dataType, shape)
    }
    guard let feature else { throw ModelError(.malformed, "the description has no such input") }
    let shape: [Int]
    switch feature.type?.kind {
    case .image(let image):
      shape = given ?? [1, image.colorSpace.channelCount, image.height, image.width]
    case .multiArray(let array): shape = given ?? array.shape
    default: throw ModelError(.unsupported, "a program accepts only images and arrays")
    }
    let sizes = tensor.sizes
    try require(
      sizes.count == shape.count && zip(sizes, shape).allSatisfy { $0 == nil || $0 == $1 },
      "the interface has the shape \(shape), the function \(ProgramText.type(tensor))")
    _ = lowering.uniqueBlob(input.name)
    return ProgramValue(blob: input.name, tensor.dataType, shape)
  }
}

extension ProgramLowering {
  /// Whether the output is what a classifier makes of its probabilities.
  fileprivate func isClass(_ output: FeatureDescription) -> Bool {
    guard classes != nil else { return false }
    switch output.type?.kind {
    case .string, .int64, .dictionary: return true
    default: return false
    }
  }
}

/// Adds the input's name to errors.
private func inInput(_ name: String, _ body: () throws -> Void) throws {
  do { try body() } catch var error as ModelError {
    error.field = error.field ?? "input '\(name)'"
    throw error
  }
}
