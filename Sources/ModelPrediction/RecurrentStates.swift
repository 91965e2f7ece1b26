import CoreMLModel
import TensorCore

extension Model {
  /// The optional inputs that are states of recurrent layers, each with the output that has the
  /// state afterwards.
  package var recurrentStates: [(input: String, output: String)] {
    let inputs = Set(
      (description?.input ?? []).filter { $0.type?.isOptional == true }.map(\.name))
    let outputs = Set((description?.output ?? []).map(\.name))
    var states: [(input: String, output: String)] = []
    for layer in neuralNetwork?.layers ?? [] where layer.parameters?.keepsStates == true {
      for (input, output) in zip(layer.input.dropFirst(), layer.output.dropFirst())
      where inputs.contains(input) && outputs.contains(output) {
        states.append((input, output))
      }
    }
    return states
  }
}

extension LayerParameters {
  fileprivate var keepsStates: Bool {
    self is SimpleRecurrent || self is GRU || self is UniDirectionalLSTM
      || self is BiDirectionalLSTM
  }
}

extension Prediction {
  /// Values for the states of the next prediction.
  package func states(of model: Model) -> [String: FeatureValue] {
    Dictionary(
      model.recurrentStates.compactMap { state in
        outputs.first { $0.name == state.output }.map { (state.input, .array($0.value)) }
      }, uniquingKeysWith: { first, _ in first })
  }
}
