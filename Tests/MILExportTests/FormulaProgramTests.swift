import CoreMLModel
import ModelPrediction
import TensorCore
import TestSupport
import Testing

@testable import MILExport

/// Formulas of custom layers as operations of an ML Program, compared with NumPy.
@Suite struct FormulaProgramTests {
  private static let file = try? FormulaExpressions.read()

  /// Without the sum over all axes, since a layer's result has at least one axis.
  static let cases = (file?.cases ?? []).filter { $0.expression != "sum(x * y)" }

  @Test func casesAreThere() { #expect(Self.cases.count >= 58) }

  @Test(arguments: cases)
  func programsAnswerWhatNumpyAnswers(_ entry: FormulaExpressions.Case) throws {
    let names = try #require(Self.file).names
    func isNamed(_ name: String) -> Bool {
      entry.expression.matches(of: /[A-Za-z_]\w*/).contains { $0.output == name }
    }
    let inputs = ["x", "y"].filter(isNamed)
    var layer = Custom()
    layer.className = "Formula"
    layer.parameters = [
      "expression": .string(entry.expression), "inputs": .string(inputs.joined(separator: ",")),
    ]
    if isNamed("beta") { layer.parameters["beta"] = .double(0.75) }
    var weights: [String] = []
    for name in ["w", "b"] where isNamed(name) {
      let numbers = try #require(names[name])
      weights.append("\(name)[\(numbers.shape.map(String.init).joined(separator: ","))]")
      layer.blobs.append(Weights(numbers.values.map { Float($0) }))
    }
    if !weights.isEmpty {
      layer.parameters["weights"] = .string(weights.joined(separator: ","))
    }
    var features: [FeatureDescription] = []
    var values: [String: FeatureValue] = [:]
    for name in inputs {
      let numbers = try #require(names[name])
      features.append(Networks.array(name, numbers.shape))
      values[name] = .array(Tensor(shape: numbers.shape, numbers.values.map { Float($0) }))
    }
    let model = Networks.model(
      [NeuralNetworkLayer("formula", layer, input: inputs, output: ["out"])],
      inputs: features, outputs: [Networks.array("out", entry.value.shape)])
    let program = try model.mlProgram()
    #expect(!Networks.operations(program).isEmpty)
    let found = try #require(Predictor(model: program).predict(values).outputs.first).value.elements
    let largest = entry.value.values.reduce(1) { max($0, abs($1)) }
    #expect(found.count == entry.value.values.count)
    let worst = zip(found, entry.value.values).map { abs(Double($0) - $1) }.max() ?? .nan
    #expect(worst <= 1e-5 * largest)
  }
}
