import CoreMLModel
import TensorCore

extension Model {
  /// The optional inputs that are states of recurrent layers, each with the output that has the
  /// state afterwards.
  package var recurrentStates: [(input: String, output: String)] {
    let inputs = Set(
      (description?.input ?? []).filter { $0.type?.isOptional == true }.map(\.name))
    let outputs = Set((description?.output ?? []).map(\.name))
    return (neuralNetwork?.layers ?? []).flatMap { layer -> [(input: String, output: String)] in
      switch layer.parameters {
      case is SimpleRecurrent, is GRU, is UniDirectionalLSTM, is BiDirectionalLSTM:
        return zip(layer.input.dropFirst(), layer.output.dropFirst())
          .filter { inputs.contains($0) && outputs.contains($1) }
          .map { (input: $0, output: $1) }
      default: return []
      }
    }
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
