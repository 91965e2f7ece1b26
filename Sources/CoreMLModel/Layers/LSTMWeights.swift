package struct LSTMParameters: EncodedMessage {
  package var sequenceOutput = false
  package var hasBiasVectors = false
  package var forgetBias = false
  package var hasPeepholeVectors = false
  package var coupledInputAndForgetGate = false
  /// 0 means 50.
  package var cellClipThreshold: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVectors", \.hasBiasVectors),
    .bool("forgetBias", \.forgetBias),
    .bool("hasPeepholeVectors", \.hasPeepholeVectors),
    .bool("coupledInputAndForgetGate", \.coupledInputAndForgetGate),
    .float("cellClipThreshold", \.cellClipThreshold),
  ]

  /// Of one direction; coupled, the forget gate is 1 less the input gate.
  var gateCount: Int { coupledInputAndForgetGate ? 3 : 4 }

  package var effectiveCellClipThreshold: Float { cellClipThreshold == 0 ? 50 : cellClipThreshold }
}

package struct LSTMWeights: EncodedMessage {
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

  private static let parts: [(name: String, path: WritableKeyPath<Self, Weights?> & Sendable)] = [
    ("inputGateWeightMatrix", \.inputGateWeightMatrix),
    ("forgetGateWeightMatrix", \.forgetGateWeightMatrix),
    ("blockInputWeightMatrix", \.blockInputWeightMatrix),
    ("outputGateWeightMatrix", \.outputGateWeightMatrix),
    ("inputGateRecursionMatrix", \.inputGateRecursionMatrix),
    ("forgetGateRecursionMatrix", \.forgetGateRecursionMatrix),
    ("blockInputRecursionMatrix", \.blockInputRecursionMatrix),
    ("outputGateRecursionMatrix", \.outputGateRecursionMatrix),
    ("inputGateBiasVector", \.inputGateBiasVector),
    ("forgetGateBiasVector", \.forgetGateBiasVector),
    ("blockInputBiasVector", \.blockInputBiasVector),
    ("outputGateBiasVector", \.outputGateBiasVector),
    ("inputGatePeepholeVector", \.inputGatePeepholeVector),
    ("forgetGatePeepholeVector", \.forgetGatePeepholeVector),
    ("outputGatePeepholeVector", \.outputGatePeepholeVector),
  ]

  package static let fields: Fields = parts.map { .message($0.name, $0.path) }

  func named(_ path: String, _ inputs: Int, _ outputs: Int) -> [NamedWeights] {
    Self.parts.compactMap { part in
      self[keyPath: part.path].map {
        NamedWeights(
          "\(path).\(part.name)", recurrentWeightShape(part.name, inputs, outputs), $0)
      }
    }
  }

  func check(_ faults: inout Faults, _ path: String, _ params: LSTMParameters?) {
    for part in Self.parts {
      let isNeeded =
        part.name.hasSuffix("BiasVector")
        ? params?.hasBiasVectors
        : part.name.hasSuffix("PeepholeVector")
          ? params?.hasPeepholeVectors : true
      faults.require(
        isNeeded != true || self[keyPath: part.path] != nil, "\(path).\(part.name)", "no values")
    }
  }
}
