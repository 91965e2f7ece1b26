package struct LSTMParameters: SpecificationMessage {
  package var sequenceOutput = false
  package var hasBiasVectors = false
  package var forgetBias = false
  package var hasPeepholeVectors = false
  package var coupledInputAndForgetGate = false
  /// 0 means 50.
  package var cellClipThreshold: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

package struct LSTMWeights: SpecificationMessage {
  package var inputGateWeightMatrix: Weights?
  package var forgetGateWeightMatrix: Weights?
  package var blockInputWeightMatrix: Weights?
  package var outputGateWeightMatrix: Weights?
  package var inputGateRecursionMatrix: Weights?
  package var forgetGateRecursionMatrix: Weights?
  package var blockInputRecursionMatrix: Weights?
  package var outputGateRecursionMatrix: Weights?
  package var inputGateBiasVector: Weights?
  package var forgetGateBiasVector: Weights?
  package var blockInputBiasVector: Weights?
  package var outputGateBiasVector: Weights?
  package var inputGatePeepholeVector: Weights?
  package var forgetGatePeepholeVector: Weights?
  package var outputGatePeepholeVector: Weights?
  package var unknownFields = UnknownFields()

  package init() {}
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

extension LSTMWeights {
  func named(_ path: String, _ inputs: Int, _ outputs: Int) -> [NamedWeights] {
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
  /// Of one direction; coupled, the forget gate is 1 less the input gate.
  var gateCount: Int { coupledInputAndForgetGate ? 3 : 4 }

  package var effectiveCellClipThreshold: Float { cellClipThreshold == 0 ? 50 : cellClipThreshold }
}

extension LSTMWeights {
  func check(_ faults: inout Faults, _ path: String, _ params: LSTMParameters?) {
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
