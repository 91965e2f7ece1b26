import CoreMLModel
import TensorCore
import TestSupport

/// Numbers of steps, batch items, inputs and units.
private let sizes = [(1, 1, 3, 4), (5, 1, 9, 8), (4, 2, 7, 5), (3, 1, 17, 33)]
private let functions: [Activation.Function] = [
  .sigmoid, .tanh, .relu, .sigmoidHard(alpha: 0, beta: 0), .linear(alpha: 0, beta: 0),
  .scaledTanh(alpha: 0.5, beta: 1.5), .scaledTanh(alpha: 0, beta: 0),
]

extension SplitMix64 {
  fileprivate mutating func functions(_ count: Int) -> [Activation] {
    (0..<count).map { _ in Activation(pick(EngineTests.functions)) }
  }

  fileprivate mutating func lstm(_ inputs: Int, _ units: Int, peepholes: Bool) -> LSTMWeights {
    var weights = LSTMWeights()
    weights.inputGate.matrix = self.weights(units * inputs)
    weights.forgetGate.matrix = self.weights(units * inputs)
    weights.blockInput.matrix = self.weights(units * inputs)
    weights.outputGate.matrix = self.weights(units * inputs)
    weights.inputGate.recursion = self.weights(units * units)
    weights.forgetGate.recursion = self.weights(units * units)
    weights.blockInput.recursion = self.weights(units * units)
    weights.outputGate.recursion = self.weights(units * units)
    weights.inputGate.bias = self.weights(units)
    weights.forgetGate.bias = self.weights(units)
    weights.blockInput.bias = self.weights(units)
    weights.outputGate.bias = self.weights(units)
    if peepholes {
      weights.inputGate.peephole = self.weights(units)
      weights.forgetGate.peephole = self.weights(units)
      weights.outputGate.peephole = self.weights(units)
    }
    return weights
  }

  fileprivate mutating func lstmParameters(_ sequence: Bool) -> LSTMParameters {
    var parameters = LSTMParameters()
    parameters.sequenceOutput = sequence
    parameters.hasBiasVectors = flag()
    parameters.forgetBias = flag()
    parameters.hasPeepholeVectors = flag()
    parameters.coupledInputAndForgetGate = flag()
    parameters.cellClipThreshold = pick([0, 0.5, 50000])
    return parameters
  }
}

/// The input and all states; every second trial omits the states.
private func shapes(
  _ steps: Int, _ batch: Int, _ inputs: Int, _ units: Int, states: Int, _ isGiven: Bool
) -> [[Int]] {
  [[steps, batch, inputs, 1, 1]]
    + [[Int]](repeating: [1, batch, units, 1, 1], count: isGiven ? states : 0)
}

extension SimpleRecurrent: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    sizes.flatMap { steps, batch, inputs, units in
      [false, true].map { isSequence in
        var layer = SimpleRecurrent()
        layer.inputVectorSize = inputs
        layer.outputVectorSize = units
        layer.activation = random.functions(1)[0]
        layer.sequenceOutput = isSequence
        layer.reverseInput = random.flag()
        layer.hasBiasVector = random.flag()
        layer.weightMatrix = random.weights(units * inputs, in: -0.5...0.5)
        layer.recursionMatrix = random.weights(units * units, in: -0.3...0.3)
        layer.biasVector = random.weights(units)
        return LayerTrial(
          "\(steps) × \(batch), \(inputs) to \(units)", layer,
          // coremltools gives states their own shape.
          isSequence
            ? shapes(steps, batch, inputs, units, states: 1, true)
            : [[steps, batch, inputs, 1, 1], [batch, units, 1, 1, 1]])
      }
    }
  }
}

extension GRU: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    sizes.flatMap { steps, batch, inputs, units in
      [false, true].map { isSequence in
        var layer = GRU()
        layer.inputVectorSize = inputs
        layer.outputVectorSize = units
        layer.activations = [Activation(.sigmoid), Activation(.tanh)]
        layer.sequenceOutput = isSequence
        layer.reverseInput = random.flag()
        layer.hasBiasVectors = random.flag()
        layer.updateGate.matrix = random.weights(units * inputs)
        layer.resetGate.matrix = random.weights(units * inputs)
        layer.outputGate.matrix = random.weights(units * inputs)
        layer.updateGate.recursion = random.weights(units * units)
        layer.resetGate.recursion = random.weights(units * units)
        layer.outputGate.recursion = random.weights(units * units)
        layer.updateGate.bias = random.weights(units)
        layer.resetGate.bias = random.weights(units)
        layer.outputGate.bias = random.weights(units)
        return LayerTrial(
          "\(steps) × \(batch), \(inputs) to \(units)", layer,
          shapes(steps, batch, inputs, units, states: 1, random.flag()))
      }
    }
  }
}

extension UniDirectionalLSTM: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    sizes.flatMap { steps, batch, inputs, units in
      [false, true].map { isSequence in
        var layer = UniDirectionalLSTM()
        layer.inputVectorSize = inputs
        layer.outputVectorSize = units
        layer.activations = [Activation(.sigmoid), Activation(.tanh), Activation(.tanh)]
        layer.params = random.lstmParameters(isSequence)
        layer.weightParams = random.lstm(
          inputs, units, peepholes: layer.params?.hasPeepholeVectors ?? false)
        layer.reverseInput = random.flag()
        return LayerTrial(
          "\(steps) × \(batch), \(inputs) to \(units)", layer,
          shapes(steps, batch, inputs, units, states: 2, random.flag()))
      }
    }
  }
}

extension BiDirectionalLSTM: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    sizes.flatMap { steps, batch, inputs, units in
      [false, true].map { isSequence in
        var layer = BiDirectionalLSTM()
        layer.inputVectorSize = inputs
        layer.outputVectorSize = units
        layer.activationsForwardLSTM = [
          Activation(.sigmoidHard(alpha: 0, beta: 0)), Activation(.tanh), Activation(.tanh),
        ]
        layer.activationsBackwardLSTM = layer.activationsForwardLSTM
        layer.params = random.lstmParameters(isSequence)
        let hasPeepholes = layer.params?.hasPeepholeVectors ?? false
        layer.weightParams = [
          random.lstm(inputs, units, peepholes: hasPeepholes),
          random.lstm(inputs, units, peepholes: hasPeepholes),
        ]
        return LayerTrial(
          "\(steps) × \(batch), \(inputs) to \(units)", layer,
          shapes(steps, batch, inputs, units, states: 4, random.flag()))
      }
    }
  }
}
