import CoreMLModel
import MILExport
import ModelPrediction
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Every type of layer, written as operations of an ML Program, against the double-precision
/// reference implementation of the layer.
@Suite struct ProgramAgreementTests {
  @Test(arguments: testedLayerTypes.map { $0.typeName })
  func agreesWithReference(typeName: String) throws {
    let type = try #require(testedLayerTypes.first { $0.typeName == typeName })
    var random = SplitMix64(seed: 11)
    let targets = [ProgramTarget.iOS15, .iOS17, .iOS18]
    for (index, trial) in try type.trials(&random).enumerated() where !(trial.layer is Custom) {
      // The first trial with all targets, the others with one each in turn.
      for target in index == 0 ? targets : [targets[index % 3]] {
        do { try check(trial, target, &random) } catch let error as ModelError {
          #expect(
            error.code == .unsupported && Self.refused.contains(typeName),
            "\(typeName): \(trial.label): \(error)")
        }
      }
    }
  }

  /// Value-dependent sizes, jumps, and branches with results of two shapes have no operations.
  private static let refused: Set = ["whereNonZero", "loopBreak", "loopContinue", "branch"]

  private func check(
    _ trial: LayerTrial, _ target: ProgramTarget, _ random: inout SplitMix64
  ) throws {
    let model = try Self.model(of: trial)
    var inputs: [String: Tensor] = [:]
    for (index, shape) in trial.inputs.enumerated() where !Self.isConstant(index, trial) {
      let elements = trial.values[index] ?? random.values(shape.reduce(1, *), in: trial.range)
      inputs["in\(index)"] = Tensor(shape: shape, elements)
    }
    let expected = try ReferenceNetwork(model: model).predict(
      inputs.mapValues(ReferenceTensor.init))
    var options = ProgramOptions()
    options.target = target
    let program = try model.mlProgram(options)
    let prediction = try Predictor(model: program).predict(inputs.mapValues { .array($0) })
    #expect(Set(prediction.outputs.map(\.name)) == Set(expected.keys), "\(trial.label)")
    for output in prediction.outputs {
      guard let b = expected[output.name] else { continue }
      compare(output.value, b, "\(trial.label), \(target): \(output.name)")
    }
  }

  /// |a − b| ≤ 1e-5 · |b| + 1e-5 · max |b|
  private func compare(_ a: Tensor, _ b: ReferenceTensor, _ label: String) {
    let (actual, elements) = (a.elements, b.elements)
    #expect(actual.count == elements.count, "\(label)")
    guard actual.count == elements.count else { return }
    let largest = elements.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
    let wrong = elements.indices.first {
      let (x, y) = (Double(actual[$0]), elements[$0])
      return !(abs(x - y) <= 1e-5 * abs(y) + 1e-5 * max(largest, 1e-3)) && x != y
        && !(x.isNaN && y.isNaN)
    }
    if let wrong {
      Issue.record("\(label)[\(wrong)] is \(actual[wrong]), not \(elements[wrong])")
    }
  }

  /// Whether the input is a constant of the network, from which a program's sizes follow.
  private static func isConstant(_ index: Int, _ trial: LayerTrial) -> Bool {
    trial.values[index] != nil && trial.layer is any DynamicLayer
  }

  private static func model(of trial: LayerTrial) throws -> Model {
    var model = try EngineAgreementTests.model(of: trial)
    for (index, shape) in trial.inputs.enumerated() {
      model.description?.input[index].type =
        FeatureDescription(
          name: "", kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .float32))
        ).type
    }
    guard trial.layer is any DynamicLayer else { return model }
    var network = try #require(model.neuralNetwork)
    for (index, values) in trial.values.sorted(by: { $0.key > $1.key }) {
      let constant = LoadConstantND(shape: trial.inputs[index], Weights(values))
      network.layers.insert(
        NeuralNetworkLayer("constant\(index)", constant, input: [], output: ["in\(index)"]), at: 0)
      model.description?.input.remove(at: index)
    }
    model.type = .neuralNetwork(network)
    return model
  }
}
