import CoreMLModel
import ModelTransforms
import TensorCore

extension DiagnosisSubject {
  /// Conventions of recurrent layers.
  var recurrentCauses: [Cause] {
    sigmoidCauses + gateOrders + [
      Cause(
        .network, "1 is added to the forget gates' bias",
        remedy: "edit the model with \(setting: "metadata") assay.forgetBias=add"
      ) { trial in try trial.addForgetBias(1) },
      Cause(.network, "1 was added to the forget gates' bias and must not be") { trial in
        try trial.addForgetBias(-1)
      },
      Cause(.network, "recurrent layers read the sequence in the other direction") { trial in
        let name = "direction"
        let lstm = trial.changeLayers(UniDirectionalLSTM.self, name) { $0.reverseInput.toggle() }
        let gru = trial.changeLayers(GRU.self, name) { $0.reverseInput.toggle() }
        let simple = trial.changeLayers(SimpleRecurrent.self, name) { $0.reverseInput.toggle() }
        return lstm || gru || simple
      },
    ]
  }

  /// Hard sigmoids are clip(αx + β, 0, 1): α = 0.2 in Keras 1 and 2 and Theano, 1/6 in Keras 3 and
  /// PyTorch.
  private var sigmoidCauses: [Cause] {
    let functions: [(summary: String, function: Activation.Function)] = [
      (
        "hard sigmoid (slope 0.2, Keras 1 and 2) instead of sigmoid",
        .sigmoidHard(alpha: 0.2, beta: 0.5)
      ),
      (
        "hard sigmoid (slope 1/6, Keras 3 and PyTorch) instead of sigmoid",
        .sigmoidHard(alpha: 1 / 6, beta: 0.5)
      ),
      ("sigmoid instead of hard sigmoid", .sigmoid),
    ]
    return functions.map { entry in
      Cause(.network, entry.summary) { trial in
        trial.changeActivations(entry.summary) { activation in
          switch activation.function {
          case .sigmoid?, .sigmoidHard?: activation.function = entry.function
          default: break
          }
        }
      }
    }
  }

  /// Every other order of the gates' weights: four gates of an LSTM, three of a GRU.
  private var gateOrders: [Cause] {
    let lstm = ["input", "forget", "cell", "output"]
    let gru = ["update", "reset", "output"]
    return permutations(4).map { order in
      Cause(
        .network,
        "the gates of LSTMs are in the order " + order.map { lstm[$0] }.joined(separator: ", ")
      ) { trial in
        trial.changeLSTMs("gates \(order)") { weights, _ in
          let gates = [
            weights.inputGate, weights.forgetGate, weights.blockInput, weights.outputGate,
          ]
          weights.inputGate = gates[order[0]]
          weights.forgetGate = gates[order[1]]
          weights.blockInput = gates[order[2]]
          weights.outputGate = gates[order[3]]
        }
      }
    }
      + permutations(3).map { order in
        cause("the gates of GRUs are in the order " + order.map { gru[$0] }.joined(separator: ", "))
        { (layer: inout GRU) in
          let gates = [layer.updateGate, layer.resetGate, layer.outputGate]
          layer.updateGate = gates[order[0]]
          layer.resetGate = gates[order[1]]
          layer.outputGate = gates[order[2]]
        }
      }
  }

  /// All permutations of `count` items except the identity.
  private func permutations(_ count: Int) -> [[Int]] {
    func orders(_ rest: [Int]) -> [[Int]] {
      rest.isEmpty
        ? [[]] : rest.flatMap { first in orders(rest.filter { $0 != first }).map { [first] + $0 } }
    }
    return Array(orders(Array(0..<count)).dropFirst())
  }
}

extension Trial {
  /// Changes the weights of every direction of every LSTM.
  ///
  /// - Parameter change: receives the weights and the number of units.
  fileprivate mutating func changeLSTMs(
    _ name: String, _ change: (inout LSTMWeights, Int) throws -> Void
  ) rethrows -> Bool {
    let single = try changeLayers(UniDirectionalLSTM.self, name) { layer in
      guard var weights = layer.weightParams else { return }
      try change(&weights, layer.outputVectorSize)
      layer.weightParams = weights
    }
    let double = try changeLayers(BiDirectionalLSTM.self, name) { layer in
      for index in layer.weightParams.indices {
        try change(&layer.weightParams[index], layer.outputVectorSize)
      }
    }
    return single || double
  }

  fileprivate mutating func addForgetBias(_ amount: Float) throws -> Bool {
    try changeLSTMs("forget bias \(amount)") { weights, units in
      weights.forgetGate.bias = try weights.forgetGate.bias.map {
        Weights(try $0.values(shape: [units]).array().map { $0 + amount })
      }
    }
  }

  /// Changes activations, including those inside recurrent layers.
  fileprivate mutating func changeActivations(
    _ name: String, _ change: (inout Activation) -> Void
  ) -> Bool {
    func changeAll(_ activations: inout [Activation]) {
      for index in activations.indices { change(&activations[index]) }
    }
    let alone = changeLayers(Activation.self, name, change)
    let lstm = changeLayers(UniDirectionalLSTM.self, name) { changeAll(&$0.activations) }
    let gru = changeLayers(GRU.self, name) { changeAll(&$0.activations) }
    let double = changeLayers(BiDirectionalLSTM.self, name) {
      changeAll(&$0.activationsForwardLSTM)
      changeAll(&$0.activationsBackwardLSTM)
    }
    return alone || lstm || gru || double
  }
}
