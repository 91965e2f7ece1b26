import CoreMLModel
import TensorCore

/// The network equivalent to a program for specific inputs.
package struct ProgramNetwork: Sendable {
  /// A buffer of a program that persists between predictions.
  package struct State: Sendable {
    /// The input with its value before a prediction.
    package var name: String
    /// The output with its value after a prediction.
    package var output: String
    package var shape: [Int]
  }

  /// The neural network; without layers if sizes depend on unknown values.
  package var model: Model
  /// The shapes of the inputs.
  package var shapes: [String: [Int]] = [:]
  /// The states, if they are inputs and outputs of the network.
  package var states: [State] = []
  /// The blobs of integers.
  package var wholeBlobs: Set<String> = []
  /// The blobs in single precision of a program that has others in half precision.
  package var singleBlobs: Set<String> = []
  /// Whether the network is only valid for these input values, because sizes depend on them.
  package var dependsOnValues = false
  /// Why the network needs values or other shapes to have layers; nil if it has layers.
  package var failure: ModelError?
}

extension Model {
  /// The program as a neural network, for inputs of these shapes; nil if the model is not a
  /// program.
  ///
  /// The layers compute in single precision.
  ///
  /// - Parameters:
  ///   - shapes: shapes of inputs that differ from the declared ones.
  ///   - values: values of the inputs, for sizes that depend on them.
  ///   - keepsStates: whether states are inputs and outputs of the network; otherwise they start as
  ///     zeros.
  /// - Throws: `.unsupported` with the name of the first operation that has no layers; `.malformed`
  ///   if types or shapes differ from those that the program declares.
  package func programNetwork(
    shapes: [String: [Int]] = [:], values: [String: Tensor]? = nil, keepsStates: Bool = false
  ) throws -> ProgramNetwork? {
    guard case .mlProgram(let program)? = type else { return nil }
    guard let description else {
      throw ModelError(.malformed, "the model has no description of its inputs and outputs")
    }
    let name = description.programFunction
    guard let function = program.function(name), let body = function.body else {
      throw ModelError(.malformed, "the program has no function '\(name)'")
    }
    let lowering = ProgramLowering(program, values: values, keepsStates: keepsStates)
    var result = ProgramNetwork(model: self)
    var network = NeuralNetwork()
    do {
      for input in function.inputs {
        let feature = description.input.first { $0.name == input.name }
        try inArgument("input '\(input.name)'") {
          let value = try Self.value(input, feature, shapes[input.name], lowering)
          lowering.define(input.name, value)
        }
      }
      try lowering.lower(body)
      for output in description.output where !lowering.isClass(output) {
        let value = try lowering.value(output.name)
        if value.blob != output.name {
          try lowering.copy(value, to: output.name, name: output.name)
        }
      }
      if keepsStates { result.states = try lowering.keptStates() }
    } catch let error as ModelError
      where values == nil && description.predictedFeatureName.isEmpty
      && (lowering.dependsOnValues || shapes.isEmpty && description.hasFlexibleInput)
    {
      // Indices and sizes may fit other shapes than the default ones, which coremltools sets to 1.
      result.failure = error
    }
    result.shapes = lowering.inputs
    result.dependsOnValues = lowering.dependsOnValues || result.failure != nil
    result.wholeBlobs = lowering.wholeBlobs
    if lowering.hasHalfBlobs { result.singleBlobs = lowering.singleBlobs }
    if result.failure == nil { network.layers = lowering.layers }
    network.arrayInputShapeMapping = .exact
    network.imageInputShapeMapping = .rank4
    for state in result.states {
      let type = ArrayFeatureType(shape: state.shape, dataType: .float32)
      result.model.description?.input.append(
        FeatureDescription(name: state.name, kind: .multiArray(type)))
      result.model.description?.output.append(
        FeatureDescription(name: state.output, kind: .multiArray(type)))
    }
    if let classes = lowering.classes {
      result.model.type = .neuralNetworkClassifier(
        NeuralNetworkClassifier(network, classes.labels, probabilities: classes.probabilities))
    } else {
      result.model.type = .neuralNetwork(network)
    }
    return result
  }

  private static func value(
    _ input: MILNamedType, _ feature: FeatureDescription?, _ given: [Int]?,
    _ lowering: ProgramLowering
  ) throws -> ProgramValue {
    let tensor = try (input.type?.tensor).orThrow(
      ModelError(.unsupported, "an input is not a tensor, which is not supported"))
    if case .state? = input.type?.kind {
      let shape = try tensor.shape.orThrow(
        ModelError(.unsupported, "a state has an unknown size, which is not supported"))
      if lowering.keepsStates {
        lowering.states[input.name] = try lowering.input(input.name, tensor.dataType, shape)
      } else {
        let zeros = FillStatic().with(\.targetShape, shape.isEmpty ? [1] : shape)
        let blob = try lowering.append(zeros, [], name: input.name)[0]
        lowering.states[input.name] = ProgramValue(blob: blob, tensor.dataType, shape)
      }
      return ProgramValue(state: input.name, tensor.dataType, shape)
    }
    guard let feature else { throw ModelError(.malformed, "the description has no such input") }
    let shape: [Int]
    switch feature.type?.kind {
    case .image(let image):
      shape = given ?? [1, image.colorSpace.channelCount, image.height, image.width]
    case .multiArray(let array): shape = given ?? array.shape
    default: throw ModelError(.unsupported, "an ML Program accepts only images and arrays")
    }
    let sizes = tensor.sizes
    try require(
      sizes.count == shape.count && zip(sizes, shape).allSatisfy { $0 == nil || $0 == $1 },
      "the interface has the shape \(shape), the function \(ProgramText.type(tensor))")
    let isWhole = feature.type?.isWhole == true
    try require(
      isWhole ? tensor.dataType.isInteger : tensor.dataType.isFloat,
      "the interface has \(isWhole ? "integers" : "floats"), the function "
        + ProgramText.type(tensor))
    return try lowering.input(input.name, tensor.dataType, shape)
  }
}

extension ProgramLowering {
  /// The states and the outputs that contain their values after a prediction, by name.
  fileprivate func keptStates() throws -> [ProgramNetwork.State] {
    try states.sorted { $0.key < $1.key }.map { name, value in
      let output = uniqueBlob(name + "_after")
      try copy(value, to: output, name: output)
      return ProgramNetwork.State(name: name, output: output, shape: value.blobShape)
    }
  }

  /// Whether the output is computed by a classifier from its probabilities.
  fileprivate func isClass(_ output: FeatureDescription) -> Bool {
    guard classes != nil else { return false }
    switch output.type?.kind {
    case .string, .int64, .dictionary: return true
    default: return false
    }
  }
}
