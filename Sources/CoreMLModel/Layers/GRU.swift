import TensorCore

/// z, r = g(W·x + R·h + b); o = f(W·x + R·(r ∘ h) + b); h = (1 − z) ∘ o + z ∘ h
///
/// With `resetsAfter`, o = f(W·x + b + r ∘ (R·h + b′)).
package struct GRU: GatedLayer {
  package static let typeName = "gru"
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
  /// Whether the reset gate applies after the product, as only programs of iOS 18 can declare.
  package var resetsAfter = false
  /// b′ with `resetsAfter`.
  package var resetBias: Weights?

  package init() {}

  package static let fields: Fields =
    [
      .int("inputVectorSize", \.inputVectorSize),
      .int("outputVectorSize", \.outputVectorSize),
      .messages("activations", \.activations),
      .bool("sequenceOutput", \.sequenceOutput),
      .bool("hasBiasVectors", \.hasBiasVectors),
      Field(
        ["reverseInput"], read: { $0.reverseInput = try $1.int("reverseInput") != 0 },
        write: { layer, writer in
          try require(
            !layer.resetsAfter, .unsupported,
            "no layer applies the reset gate after the product", field: "gru")
          try writer.set("reverseInput", layer.reverseInput ? 1 : 0)
        }),
    ]
    + Field<GRU>.gates([
      ("updateGate", \.updateGate), ("resetGate", \.resetGate), ("outputGate", \.outputGate),
    ])

  var hasBias: Bool { hasBiasVectors }
  package var gateCount: Int { 3 }
  package var functions: [Activation] { activations }

  package func check(_ faults: inout ValidationIssues) { faults.requireRecurrent(activations, 2) }
}
