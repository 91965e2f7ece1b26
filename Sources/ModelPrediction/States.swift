import CoreMLModel
import MILImport
import TensorCore

extension Predictor {
  /// The values that predictions may pass on: the states of an ML Program, and the optional inputs
  /// that are states of recurrent layers.
  public var states: [FeatureDescription] {
    if let function = program?.programFunction {
      return function.inputs.compactMap { input in
        guard case .state? = input.type?.kind, let tensor = input.type?.tensor,
          let shape = tensor.shape
        else { return nil }
        let type = ArrayFeatureType(shape: shape, dataType: tensor.dataType.arrayDataType)
        return FeatureDescription(name: input.name, kind: .multiArray(type))
      }
    }
    let names = Set(model.recurrentStates.map(\.input))
    return inputs.filter { names.contains($0.name) }
  }

  /// The values of states before the first prediction: zeros for an ML Program; recurrent layers
  /// define their own initial values.
  public func initialStates() throws -> [String: FeatureValue] {
    guard program != nil else { return [:] }
    var values: [String: FeatureValue] = [:]
    for state in states {
      guard case .multiArray(let type)? = state.type?.kind else { continue }
      values[state.name] = .array(
        try Tensor(checkedShape: type.shape) { $0.initialize(repeating: 0) })
    }
    return values
  }

  /// Whether predictions pass on states of an ML Program.
  package var hasProgramStates: Bool { program != nil && !states.isEmpty }

  /// The blob for the value of a state.
  ///
  /// - Throws: `.mismatch` if the value does not fit the state.
  package func state(_ value: FeatureValue, of state: FeatureDescription) throws -> Tensor {
    guard program != nil else {
      let feature = try interface.features[state.name].orThrow(
        ModelError(.internal, "a state that is not an input", field: state.name))
      return try feature.blob(value)
    }
    let tensor: Tensor? =
      switch value {
      case .array(let tensor): tensor
      case .numbers(let array): Tensor(shape: array.shape, array.elements.map { Float($0) })
      default: nil
      }
    guard case .multiArray(let type)? = state.type?.kind, let tensor, tensor.shape == type.shape
    else {
      throw ModelError(
        .mismatch, "the value of the state does not have its shape \(state.declaredSizes)",
        field: state.name)
    }
    try state.type?.requireNumbers(value, feature: state.name)
    return tensor
  }

  /// Predicts with the given states, by name, and updates them. Those of an ML Program require
  /// `Options.keepsStates`, and are zeros if they have no value.
  public func predict(
    _ values: [String: FeatureValue], _ states: inout [String: FeatureValue]
  ) throws -> Prediction {
    guard program != nil else {
      let prediction = try predict(values.merging(states) { given, _ in given })
      states = prediction.states(of: model)
      return prediction
    }
    var tensors: [String: Tensor] = [:]
    for state in self.states {
      if let value = states[state.name] { tensors[state.name] = try self.state(value, of: state) }
    }
    let prediction = try predict(values, programStates: &tensors)
    states = tensors.mapValues { .array($0) }
    return prediction
  }
}

extension FeatureDescription {
  fileprivate var declaredSizes: [Int] {
    if case .multiArray(let type)? = type?.kind { type.shape } else { [] }
  }
}

extension Model {
  /// The function of an ML Program that the interface describes; nil for other models.
  fileprivate var programFunction: MILFunction? {
    guard case .mlProgram(let program)? = type else { return nil }
    return program.function(description?.programFunction ?? "")
  }

  /// The optional inputs that are states of recurrent layers, each with the output that holds the
  /// state afterwards.
  package var recurrentStates: [(input: String, output: String)] {
    let inputs = Set(
      (description?.input ?? []).filter { $0.type?.isOptional == true }.map(\.name))
    let outputs = Set((description?.output ?? []).map(\.name))
    return (neuralNetwork?.layers ?? []).flatMap { layer -> [(input: String, output: String)] in
      guard layer.parameters is any RecurrentLayer else { return [] }
      return zip(layer.input.dropFirst(), layer.output.dropFirst())
        .filter { inputs.contains($0) && outputs.contains($1) }
        .map { (input: $0, output: $1) }
    }
  }
}

extension MILDataType {
  /// The array type for such elements: floats keep their precision, all others become integers.
  fileprivate var arrayDataType: ArrayFeatureType.DataType {
    switch self {
    case .float16: .float16
    case .float32, .bfloat16: .float32
    case .float64: .double
    case .int8: .int8
    default: .int32
    }
  }
}

extension Prediction {
  /// Values for the states of recurrent layers in the next prediction.
  fileprivate func states(of model: Model) -> [String: FeatureValue] {
    Dictionary(
      first: model.recurrentStates.compactMap { state in
        outputs.first { $0.name == state.output }.map { (state.input, .array($0.value)) }
      })
  }
}
