import CoreMLModel

/// Mistakes in the gates of recurrent layers.
extension ConversionDamage {
  private static let lstmGates:
    [(name: String, path: WritableKeyPath<LSTMWeights, RecurrentWeights> & Sendable)] = [
      ("input", \.inputGate), ("forget", \.forgetGate), ("block", \.blockInput),
      ("output", \.outputGate),
    ]

  private static let gruGates:
    [(name: String, path: WritableKeyPath<GRU, RecurrentWeights> & Sendable)] = [
      ("update", \.updateGate), ("reset", \.resetGate), ("output", \.outputGate),
    ]

  /// Changes one gate; returns false if there is nothing to change.
  private typealias GateChange = @Sendable (inout RecurrentWeights) -> Bool

  private static let changes: [(name: String, change: GateChange)] = [
    ("swapped weights", { swap(&$0.matrix) }), ("swapped recursion", { swap(&$0.recursion) }),
    ("a swapped bias", { swap(&$0.bias) }),
    (
      "no bias",
      { gate in
        guard let bias = try? gate.bias?.floatValue.array(), bias.contains(where: { $0 != 0 })
        else {
          return false
        }
        gate.bias = Weights([Float](repeating: 0, count: bias.count))
        return true
      }
    ),
  ]

  /// Every swap of two gates, and every change of one gate, in LSTMs of either direction and GRUs.
  static let gates: [ConversionDamage] = exchanges + ofOneGate

  private static var exchanges: [ConversionDamage] {
    var damages: [ConversionDamage] = []
    for (first, a) in lstmGates.enumerated() {
      for b in lstmGates[(first + 1)...] {
        damages.append(
          of(UniDirectionalLSTM.self, "gates \(a.name) and \(b.name)") { layer in
            guard var weights = layer.weightParams else { return false }
            (weights[keyPath: a.path], weights[keyPath: b.path]) = (
              weights[keyPath: b.path], weights[keyPath: a.path]
            )
            layer.weightParams = weights
            return true
          })
        damages.append(
          of(BiDirectionalLSTM.self, "gates \(a.name) and \(b.name) of the way back") { layer in
            guard layer.weightParams.count == 2 else { return false }
            var weights = layer.weightParams[1]
            (weights[keyPath: a.path], weights[keyPath: b.path]) = (
              weights[keyPath: b.path], weights[keyPath: a.path]
            )
            layer.weightParams[1] = weights
            return true
          })
      }
    }
    for (first, a) in gruGates.enumerated() {
      for b in gruGates[(first + 1)...] {
        damages.append(
          of(GRU.self, "gates \(a.name) and \(b.name)") { layer in
            (layer[keyPath: a.path], layer[keyPath: b.path]) = (
              layer[keyPath: b.path], layer[keyPath: a.path]
            )
            return true
          })
      }
    }
    return damages
  }

  private static var ofOneGate: [ConversionDamage] {
    changes.flatMap { name, change in
      lstmGates.flatMap { gate in
        [
          of(UniDirectionalLSTM.self, "\(name) of gate \(gate.name)") { layer in
            guard var weights = layer.weightParams else { return false }
            let isChanged = change(&weights[keyPath: gate.path])
            layer.weightParams = weights
            return isChanged
          },
          of(BiDirectionalLSTM.self, "\(name) of gate \(gate.name)") { layer in
            guard var weights = layer.weightParams.first else { return false }
            let isChanged = change(&weights[keyPath: gate.path])
            layer.weightParams[0] = weights
            return isChanged
          },
        ]
      }
        + gruGates.map { gate in
          of(GRU.self, "\(name) of gate \(gate.name)") { change(&$0[keyPath: gate.path]) }
        }
    } + [
      of(SimpleRecurrent.self, "swapped weights") { swap(&$0.weightMatrix) },
      of(SimpleRecurrent.self, "a swapped bias") { swap(&$0.biasVector) },
    ]
  }
}
