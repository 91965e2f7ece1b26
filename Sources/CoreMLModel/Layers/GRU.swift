/// z, r = g(W·x + R·h + b); o = f(W·x + R·(r ∘ h) + b); h = (1 − z) ∘ o + z ∘ h
package struct GRU: GatedLayer {
  package static let typeName = "gru"
  package static let minimumRank = 5
  package static let inputCount = 1...2
  package static let outputCount = 2...2

  package var inputVectorSize = 0
  package var outputVectorSize = 0
  /// Activations of the gates and of the cell.
  package var activations: [Activation] = []
  package var sequenceOutput = false
  package var hasBiasVectors = false
  package var updateGate = RecurrentWeights()
  package var resetGate = RecurrentWeights()
  package var outputGate = RecurrentWeights()
  package var reverseInput = false

  package init() {}

  package static let fields: Fields =
    [
      .int("inputVectorSize", \.inputVectorSize),
      .int("outputVectorSize", \.outputVectorSize),
      .messages("activations", \.activations),
      .bool("sequenceOutput", \.sequenceOutput),
      .bool("hasBiasVectors", \.hasBiasVectors),
      .bool("reverseInput", \.reverseInput),
    ]
    + Field<GRU>.gates([
      ("updateGate", \.updateGate), ("resetGate", \.resetGate), ("outputGate", \.outputGate),
    ])

  var hasBias: Bool { hasBiasVectors }

  /// Shapes of the output and of the state.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try recurrentShapes(
      inputs, inputVectorSize, outputVectorSize, states: 1, sequenceOutput: sequenceOutput)
  }

  package func multiplyAdds(_ inputs: [[Int]], _ outputs: [[Int]]) -> Int {
    MultiplyAdds.recurrent(inputs, gates: 3, inputVectorSize, outputVectorSize)
  }

  package func check(_ faults: inout Faults) {
    faults.requireRecurrent(activations, 2)
  }
}
