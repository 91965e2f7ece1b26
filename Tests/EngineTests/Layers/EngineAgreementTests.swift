import CoreMLModel
import CustomLayers
import Kernels
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The engine compared with the double-precision reference implementations, for every type of
/// layer, with every instruction set of this machine and one to three threads.
@Suite struct EngineAgreementTests {
  @Test(arguments: testedLayerTypes.map { $0.typeName })
  func agreesWithReference(typeName: String) throws {
    let type = try #require(testedLayerTypes.first { $0.typeName == typeName })
    var random = SplitMix64(seed: 7)
    let trials = try type.trials(&random)
    #expect(!trials.isEmpty)
    let exact = trials.compactMap(\.withoutSequence).enumerated().filter { $0.offset % 4 == 0 }
    for trial in trials + exact.map(\.element) {
      do {
        try check(trial, Self.model(of: trial), &random)
        // Near the poles of the tangent, rounding of the preceding convolution dominates.
        if typeName != "tan", trial.innerOutputs == 0,
          let surrounded = try surroundedModel(of: trial, &random)
        {
          try check(trial, surrounded, &random)
        }
      } catch {
        Issue.record("\(typeName): \(trial.label): \(error)")
      }
    }
  }

  private func check(
    _ trial: LayerTrial, _ model: Model, _ random: inout SplitMix64
  ) throws {
    var inputs: [String: Tensor] = [:]
    for (index, shape) in trial.inputs.enumerated() {
      let count = shape.reduce(1, *)
      let elements = trial.values[index] ?? random.values(count, in: trial.range)
      inputs["in\(index)"] = Tensor(shape: shape, elements)
    }
    let expected = try ReferenceNetwork(model: model, customLayers: Self.customLayers)
      .predict(inputs.mapValues(ReferenceTensor.init))
    for set in InstructionSet.allCases where set.isAvailable {
      var first: [String: Tensor]?
      for threads in [1, 3] {
        var options = CompileOptions()
        options.instructionSet = set
        options.threads = threads
        options.customLayers = Self.customLayers
        for (name, tensor) in inputs { options.inputShapes[name] = tensor.shape }
        let actual = try CompiledNetwork(model: model, options: options).predict(inputs)
        if let first {
          for (name, tensor) in actual {
            #expect(
              first[name].map { hasSameBits($0, tensor) } == true,
              "\(trial.label): \(name) changes with the number of threads, \(threads), \(set)")
          }
        } else {
          first = actual
          compare(actual, expected, "\(trial.label), \(set)")
        }
      }
    }
  }

  static var customLayers: CustomLayerRegistry {
    var registry = CustomLayerRegistry()
    registry.register(TwiceAndNegated.self)
    return registry
  }

  /// |a − b| ≤ 1e-5 · |b| + 1e-5 · max |b|
  private func compare(
    _ actual: [String: Tensor], _ expected: [String: ReferenceTensor], _ label: String
  ) {
    #expect(Set(actual.keys) == Set(expected.keys), "\(label)")
    for (name, b) in expected {
      guard let a = actual[name] else { continue }
      #expect(a.shape == b.shape, "\(label): \(name)")
      guard a.shape == b.shape else { continue }
      let largest = b.elements.reduce(0) { max($0, $1.isFinite ? abs($1) : 0) }
      let elements = a.elements
      let wrong = b.elements.indices.first {
        let (x, y) = (Double(elements[$0]), b.elements[$0])
        return !(abs(x - y) <= 1e-5 * abs(y) + 1e-5 * max(largest, 1e-3)) && x != y
          && !(x.isNaN && y.isNaN)
      }
      #expect(
        wrong == nil,
        "\(label): \(name)[\(wrong ?? 0)] is \(elements[wrong ?? 0]), not \(b.elements[wrong ?? 0])"
      )
    }
  }

  private func hasSameBits(_ a: Tensor, _ b: Tensor) -> Bool {
    a.elements.map(\.bitPattern) == b.elements.map(\.bitPattern)
  }

  /// A network with only this layer.
  static func model(of trial: LayerTrial) throws -> Model {
    let outputs = try trial.outputShapes().indices.map { "out\($0)" }
    let layer = NeuralNetworkLayer(
      "layer", trial.layer, input: trial.inputs.indices.map { "in\($0)" }, output: outputs)
    return model([layer], trial, outputs + (0..<trial.innerOutputs).map { "out\($0)" })
  }

  /// The layer between two 1 × 1 convolutions, so that it uses the kernels' layout; nil for layers
  /// that do not work on planes.
  private func surroundedModel(
    of trial: LayerTrial, _ random: inout SplitMix64
  ) throws -> Model? {
    guard let input = trial.inputs.first, trial.values[0] == nil, trial.range.lowerBound < 0 else {
      return nil
    }
    let outputs = try trial.outputShapes()
    func convolution(_ channels: Int) -> Convolution {
      var layer = Convolution()
      layer.outputChannels = channels
      layer.kernelChannels = channels
      layer.kernelSize = [1, 1]
      layer.kernel = random.weights(channels * channels)
      return layer
    }
    func channels(_ shape: [Int]) -> Int { shape.count > 2 ? shape[shape.count - 3] : 1 }
    guard (3...5).contains(input.count), channels(input) <= 64, channels(outputs[0]) <= 64 else {
      return nil
    }
    let before = NeuralNetworkLayer(
      "before", convolution(channels(input)), input: ["in0"], output: ["mixed"])
    let names = outputs.indices.map { "blob\($0)" }
    let layer = NeuralNetworkLayer(
      "layer", trial.layer,
      input: ["mixed"] + trial.inputs.indices.dropFirst().map { "in\($0)" }, output: names)
    let after = NeuralNetworkLayer(
      "after", convolution(channels(outputs[0])), input: ["blob0"], output: ["out0"])
    guard (3...5).contains(outputs[0].count) else {
      return Self.model([before, layer], trial, ["blob0"])
    }
    return Self.model([before, layer, after], trial, ["out0"])
  }

  private static func model(
    _ layers: [NeuralNetworkLayer], _ trial: LayerTrial, _ outputs: [String]
  ) -> Model {
    var network = NeuralNetwork()
    network.layers = layers
    if trial.isExact { network.arrayInputShapeMapping = .exact }
    var description = ModelDescription()
    description.input = trial.inputs.enumerated().map { index, shape in
      let declared = trial.isExact ? shape : Array(shape[2...])
      return FeatureDescription(
        name: "in\(index)",
        kind: .multiArray(ArrayFeatureType(shape: declared, dataType: .double)))
    }
    description.output = outputs.map {
      FeatureDescription(
        name: $0, kind: .multiArray(ArrayFeatureType(shape: [], dataType: .double)))
    }
    var model = Model()
    model.specificationVersion = trial.isExact ? 5 : 3
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }
}
