import TensorCore

/// h = f(W·x + R·h + b)
public struct SimpleRecurrent: LayerParameters {
  public static let typeName = "simpleRecurrent"
  public static let inputCount = 1...2
  public static let outputCount = 1...2

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  public var activation: Activation?
  public var sequenceOutput = false
  public var hasBiasVector = false
  public var weightMatrix: Weights?
  public var recursionMatrix: Weights?
  public var biasVector: Weights?
  public var reverseInput = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// z, r = g(W·x + R·h + b); o = f(W·x + R·(r ∘ h) + b); h = (1 − z) ∘ o + z ∘ h
public struct GRU: LayerParameters {
  public static let typeName = "gru"
  public static let inputCount = 1...2
  public static let outputCount = 1...2

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  /// Of the gates, of the cell.
  public var activations: [Activation] = []
  public var sequenceOutput = false
  public var hasBiasVectors = false
  public var updateGateWeightMatrix: Weights?
  public var resetGateWeightMatrix: Weights?
  public var outputGateWeightMatrix: Weights?
  public var updateGateRecursionMatrix: Weights?
  public var resetGateRecursionMatrix: Weights?
  public var outputGateRecursionMatrix: Weights?
  public var updateGateBiasVector: Weights?
  public var resetGateBiasVector: Weights?
  public var outputGateBiasVector: Weights?
  public var reverseInput = false
  public var unknownFields = UnknownFields()

  public init() {}
}

public struct UniDirectionalLSTM: LayerParameters {
  public static let typeName = "uniDirectionalLSTM"
  public static let inputCount = 1...3
  public static let outputCount = 1...3

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  /// Of the gates, of the cell, of the output.
  public var activations: [Activation] = []
  public var params: LSTMParameters?
  public var weightParams: LSTMWeights?
  public var reverseInput = false
  public var unknownFields = UnknownFields()

  public init() {}
}

public struct BiDirectionalLSTM: LayerParameters {
  public static let typeName = "biDirectionalLSTM"
  public static let inputCount = 1...5
  public static let outputCount = 1...5

  public var inputVectorSize = 0
  public var outputVectorSize = 0
  public var activationsForwardLSTM: [Activation] = []
  public var activationsBackwardLSTM: [Activation] = []
  public var params: LSTMParameters?
  /// Forward, then backward.
  public var weightParams: [LSTMWeights] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

public struct LSTMParameters: SpecificationMessage {
  public var sequenceOutput = false
  public var hasBiasVectors = false
  public var forgetBias = false
  public var hasPeepholeVectors = false
  public var coupledInputAndForgetGate = false
  /// 0 means 50.
  public var cellClipThreshold: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

public struct LSTMWeights: SpecificationMessage {
  public var inputGateWeightMatrix: Weights?
  public var forgetGateWeightMatrix: Weights?
  public var blockInputWeightMatrix: Weights?
  public var outputGateWeightMatrix: Weights?
  public var inputGateRecursionMatrix: Weights?
  public var forgetGateRecursionMatrix: Weights?
  public var blockInputRecursionMatrix: Weights?
  public var outputGateRecursionMatrix: Weights?
  public var inputGateBiasVector: Weights?
  public var forgetGateBiasVector: Weights?
  public var blockInputBiasVector: Weights?
  public var outputGateBiasVector: Weights?
  public var inputGatePeepholeVector: Weights?
  public var forgetGatePeepholeVector: Weights?
  public var outputGatePeepholeVector: Weights?
  public var unknownFields = UnknownFields()

  public init() {}
}

extension SimpleRecurrent: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .message("activation", \.activation),
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVector", \.hasBiasVector),
    .message("weightMatrix", \.weightMatrix),
    .message("recursionMatrix", \.recursionMatrix),
    .message("biasVector", \.biasVector),
    .bool("reverseInput", \.reverseInput),
  ]
}

extension GRU: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activations", \.activations),
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVectors", \.hasBiasVectors),
    .message("updateGateWeightMatrix", \.updateGateWeightMatrix),
    .message("resetGateWeightMatrix", \.resetGateWeightMatrix),
    .message("outputGateWeightMatrix", \.outputGateWeightMatrix),
    .message("updateGateRecursionMatrix", \.updateGateRecursionMatrix),
    .message("resetGateRecursionMatrix", \.resetGateRecursionMatrix),
    .message("outputGateRecursionMatrix", \.outputGateRecursionMatrix),
    .message("updateGateBiasVector", \.updateGateBiasVector),
    .message("resetGateBiasVector", \.resetGateBiasVector),
    .message("outputGateBiasVector", \.outputGateBiasVector),
    .bool("reverseInput", \.reverseInput),
  ]
}

extension UniDirectionalLSTM: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activations", \.activations),
    .message("params", \.params),
    .message("weightParams", \.weightParams),
    .bool("reverseInput", \.reverseInput),
  ]
}

extension BiDirectionalLSTM: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("inputVectorSize", \.inputVectorSize),
    .int("outputVectorSize", \.outputVectorSize),
    .messages("activationsForwardLSTM", \.activationsForwardLSTM),
    .messages("activationsBackwardLSTM", \.activationsBackwardLSTM),
    .message("params", \.params),
    .messages("weightParams", \.weightParams),
  ]
}

extension LSTMParameters: EncodedMessage {
  static let fields: [Field<Self>] = [
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVectors", \.hasBiasVectors),
    .bool("forgetBias", \.forgetBias),
    .bool("hasPeepholeVectors", \.hasPeepholeVectors),
    .bool("coupledInputAndForgetGate", \.coupledInputAndForgetGate),
    .float("cellClipThreshold", \.cellClipThreshold),
  ]
}

extension LSTMWeights: EncodedMessage {
  static let fields: [Field<Self>] = [
    .message("inputGateWeightMatrix", \.inputGateWeightMatrix),
    .message("forgetGateWeightMatrix", \.forgetGateWeightMatrix),
    .message("blockInputWeightMatrix", \.blockInputWeightMatrix),
    .message("outputGateWeightMatrix", \.outputGateWeightMatrix),
    .message("inputGateRecursionMatrix", \.inputGateRecursionMatrix),
    .message("forgetGateRecursionMatrix", \.forgetGateRecursionMatrix),
    .message("blockInputRecursionMatrix", \.blockInputRecursionMatrix),
    .message("outputGateRecursionMatrix", \.outputGateRecursionMatrix),
    .message("inputGateBiasVector", \.inputGateBiasVector),
    .message("forgetGateBiasVector", \.forgetGateBiasVector),
    .message("blockInputBiasVector", \.blockInputBiasVector),
    .message("outputGateBiasVector", \.outputGateBiasVector),
    .message("inputGatePeepholeVector", \.inputGatePeepholeVector),
    .message("forgetGatePeepholeVector", \.forgetGatePeepholeVector),
    .message("outputGatePeepholeVector", \.outputGatePeepholeVector),
  ]
}

extension SimpleRecurrent {
  /// Of the output and of the state.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 1, sequenceOutput: sequenceOutput)
  }

  public var weights: [NamedWeights] {
    named(
      ("weightMatrix", weightMatrix), ("recursionMatrix", recursionMatrix),
      ("biasVector", biasVector)
    ) { recurrentWeightShape($0, inputVectorSize, outputVectorSize) }
  }
}

extension GRU {
  /// Of the output and of the state.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 1, sequenceOutput: sequenceOutput)
  }

  public var weights: [NamedWeights] {
    named(
      ("updateGateWeightMatrix", updateGateWeightMatrix),
      ("resetGateWeightMatrix", resetGateWeightMatrix),
      ("outputGateWeightMatrix", outputGateWeightMatrix),
      ("updateGateRecursionMatrix", updateGateRecursionMatrix),
      ("resetGateRecursionMatrix", resetGateRecursionMatrix),
      ("outputGateRecursionMatrix", outputGateRecursionMatrix),
      ("updateGateBiasVector", updateGateBiasVector),
      ("resetGateBiasVector", resetGateBiasVector),
      ("outputGateBiasVector", outputGateBiasVector)
    ) { recurrentWeightShape($0, inputVectorSize, outputVectorSize) }
  }
}

extension UniDirectionalLSTM {
  /// Of the output, of the hidden state and of the cell state.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 2,
      sequenceOutput: params?.sequenceOutput ?? false)
  }

  public var weights: [NamedWeights] {
    weightParams?.named("weightParams", inputVectorSize, outputVectorSize) ?? []
  }
}

extension BiDirectionalLSTM {
  /// Of the output, twice as wide, and of hidden and cell state forward and backward.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shapes = try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 4,
      sequenceOutput: params?.sequenceOutput ?? false)
    shapes[0][2] = try checkedProduct([outputVectorSize, 2], limit: Limits.dimension)
    shapes[0] = try BlobShape(shapes[0]).checked
    return shapes
  }

  public var weights: [NamedWeights] {
    weightParams.enumerated().flatMap {
      $1.named("weightParams[\($0)]", inputVectorSize, outputVectorSize)
    }
  }
}

extension LSTMWeights {
  fileprivate func named(_ path: String, _ inputs: Int, _ outputs: Int) -> [NamedWeights] {
    let fields: [(String, Weights?)] = [
      ("inputGateWeightMatrix", inputGateWeightMatrix),
      ("forgetGateWeightMatrix", forgetGateWeightMatrix),
      ("blockInputWeightMatrix", blockInputWeightMatrix),
      ("outputGateWeightMatrix", outputGateWeightMatrix),
      ("inputGateRecursionMatrix", inputGateRecursionMatrix),
      ("forgetGateRecursionMatrix", forgetGateRecursionMatrix),
      ("blockInputRecursionMatrix", blockInputRecursionMatrix),
      ("outputGateRecursionMatrix", outputGateRecursionMatrix),
      ("inputGateBiasVector", inputGateBiasVector),
      ("forgetGateBiasVector", forgetGateBiasVector),
      ("blockInputBiasVector", blockInputBiasVector),
      ("outputGateBiasVector", outputGateBiasVector),
      ("inputGatePeepholeVector", inputGatePeepholeVector),
      ("forgetGatePeepholeVector", forgetGatePeepholeVector),
      ("outputGatePeepholeVector", outputGatePeepholeVector),
    ]
    return fields.compactMap { name, values in
      values.map {
        NamedWeights("\(path).\(name)", recurrentWeightShape(name, inputs, outputs), $0)
      }
    }
  }
}

extension LSTMParameters {
  public var effectiveCellClipThreshold: Float { cellClipThreshold == 0 ? 50 : cellClipThreshold }
}

/// The name of a recurrent layer's weight says what it joins.
private func recurrentWeightShape(_ name: String, _ inputs: Int, _ outputs: Int) -> [Int] {
  let lowered = name.lowercased()
  if lowered.hasSuffix("vector") { return [outputs] }
  return lowered.contains("recursion") ? [outputs, outputs] : [outputs, inputs]
}

extension LayerParameters {
  /// `[Seq or 1, Batch, size, 1, 1]` of the output, then that with one step of each state.
  fileprivate func recurrentShapes(
    _ inputs: [[Int]], _ inputSize: Int, _ outputSize: Int, states: Int, sequenceOutput: Bool
  ) throws -> [[Int]] {
    let shape = try input(inputs)
    guard [1, states + 1].contains(inputs.count) else {
      throw ModelError(
        .malformed, "\(inputs.count) inputs, where 1 or \(states + 1) are needed", field: "input")
    }
    guard try shape.itemCount == inputSize else {
      throw ModelError(
        .malformed, "the input has \(try shape.itemCount) values an item, not \(inputSize)",
        field: "inputVectorSize")
    }
    let state = try BlobShape([1, shape.batch, outputSize, 1, 1]).checked
    for input in inputs.dropFirst() where input != state {
      throw ModelError(.malformed, "a state has the shape \(input), not \(state)", field: "input")
    }
    var output = state
    if sequenceOutput { output[0] = shape.sequence }
    return [try BlobShape(output).checked] + Array(repeating: state, count: states)
  }
}

extension Activation {
  /// The function in a recurrent layer, where the constants of two are fixed and may be left out.
  public var recurrentFunction: Function? {
    switch function {
    case .scaledTanh(alpha: 0, beta: 0): .scaledTanh(alpha: 1.7159, beta: 2.0 / 3)
    case .sigmoidHard(alpha: 0, beta: 0): .sigmoidHard(alpha: 0.2, beta: 0.5)
    default: function
    }
  }
}

extension SimpleRecurrent: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activation.map { [$0] } ?? [], 1)
    faults.requireWeights(
      ("weightMatrix", weightMatrix), ("recursionMatrix", recursionMatrix))
    faults.requireWeights(("biasVector", biasVector, hasBiasVector))
  }
}

extension GRU: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activations, 2)
    faults.requireWeights(
      ("updateGateWeightMatrix", updateGateWeightMatrix),
      ("resetGateWeightMatrix", resetGateWeightMatrix),
      ("outputGateWeightMatrix", outputGateWeightMatrix),
      ("updateGateRecursionMatrix", updateGateRecursionMatrix),
      ("resetGateRecursionMatrix", resetGateRecursionMatrix),
      ("outputGateRecursionMatrix", outputGateRecursionMatrix))
    faults.requireWeights(
      ("updateGateBiasVector", updateGateBiasVector, hasBiasVectors),
      ("resetGateBiasVector", resetGateBiasVector, hasBiasVectors),
      ("outputGateBiasVector", outputGateBiasVector, hasBiasVectors))
  }
}

extension UniDirectionalLSTM: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activations, 3)
    faults.require(weightParams != nil, "weightParams", "no weights")
    weightParams?.check(&faults, "weightParams", params)
  }
}

extension BiDirectionalLSTM: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireRecurrent(activationsForwardLSTM, 3)
    faults.requireRecurrent(activationsBackwardLSTM, 3)
    faults.require(
      weightParams.count == 2, "weightParams",
      "\(weightParams.count) directions, two are needed")
    for (index, weights) in weightParams.enumerated() {
      weights.check(&faults, "weightParams[\(index)]", params)
    }
  }
}

extension LSTMWeights {
  fileprivate func check(_ faults: inout Faults, _ path: String, _ params: LSTMParameters?) {
    let params = params ?? LSTMParameters()
    faults.requireWeights(
      ("\(path).inputGateWeightMatrix", inputGateWeightMatrix),
      ("\(path).forgetGateWeightMatrix", forgetGateWeightMatrix),
      ("\(path).blockInputWeightMatrix", blockInputWeightMatrix),
      ("\(path).outputGateWeightMatrix", outputGateWeightMatrix),
      ("\(path).inputGateRecursionMatrix", inputGateRecursionMatrix),
      ("\(path).forgetGateRecursionMatrix", forgetGateRecursionMatrix),
      ("\(path).blockInputRecursionMatrix", blockInputRecursionMatrix),
      ("\(path).outputGateRecursionMatrix", outputGateRecursionMatrix))
    faults.requireWeights(
      ("\(path).inputGateBiasVector", inputGateBiasVector, params.hasBiasVectors),
      ("\(path).forgetGateBiasVector", forgetGateBiasVector, params.hasBiasVectors),
      ("\(path).blockInputBiasVector", blockInputBiasVector, params.hasBiasVectors),
      ("\(path).outputGateBiasVector", outputGateBiasVector, params.hasBiasVectors),
      ("\(path).inputGatePeepholeVector", inputGatePeepholeVector, params.hasPeepholeVectors),
      ("\(path).forgetGatePeepholeVector", forgetGatePeepholeVector, params.hasPeepholeVectors),
      ("\(path).outputGatePeepholeVector", outputGatePeepholeVector, params.hasPeepholeVectors))
  }
}
