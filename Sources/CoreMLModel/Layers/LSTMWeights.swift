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

  package static let fields: Fields = [
    .bool("sequenceOutput", \.sequenceOutput),
    .bool("hasBiasVectors", \.hasBiasVectors),
    .bool("forgetBias", \.forgetBias),
    .bool("hasPeepholeVectors", \.hasPeepholeVectors),
    .bool("coupledInputAndForgetGate", \.coupledInputAndForgetGate),
    .float("cellClipThreshold", \.cellClipThreshold),
  ]

  /// Gates per direction; if coupled, the forget gate is 1 minus the input gate.
  var gateCount: Int { coupledInputAndForgetGate ? 3 : 4 }

  package var effectiveCellClipThreshold: Float { cellClipThreshold == 0 ? 50 : cellClipThreshold }
}

package struct LSTMWeights: SpecificationMessage {
  package var inputGate = RecurrentWeights()
  package var forgetGate = RecurrentWeights()
  package var blockInput = RecurrentWeights()
  package var outputGate = RecurrentWeights()
  package var unknownFields = UnknownFields()

  package init() {}

  private typealias Part = (name: String, path: WritableKeyPath<Self, Weights?>)

  private static var parts: [Part] {
    let gates: [(name: String, path: WritableKeyPath<Self, RecurrentWeights>)] = [
      ("inputGate", \.inputGate), ("forgetGate", \.forgetGate), ("blockInput", \.blockInput),
      ("outputGate", \.outputGate),
    ]
    let all: [Part] = RecurrentWeights.parts.flatMap { part in
      gates.map { ($0.name + part.name, $0.path.appending(path: part.path)) }
    }
    return all + [
      ("inputGatePeepholeVector", \.inputGate.peephole),
      ("forgetGatePeepholeVector", \.forgetGate.peephole),
      ("outputGatePeepholeVector", \.outputGate.peephole),
    ]
  }

  package static let fields: Fields = parts.map { .message($0.name, $0.path) }

  func named(_ path: String, _ inputs: Int, _ outputs: Int) -> [NamedWeights] {
    Self.parts.compactMap { part in
      self[keyPath: part.path].map {
        NamedWeights("\(path).\(part.name)", recurrentWeightShape(part.name, inputs, outputs), $0)
      }
    }
  }

  func check(_ faults: inout ValidationIssues, _ path: String, _ params: LSTMParameters?) {
    for part in Self.parts {
      let isNeeded =
        part.name.hasSuffix("BiasVector")
        ? params?.hasBiasVectors
        : part.name.hasSuffix("PeepholeVector") ? params?.hasPeepholeVectors : true
      faults.require(
        isNeeded != true || self[keyPath: part.path] != nil, "\(path).\(part.name)",
        "the values are missing")
    }
  }
}
