import CoreMLModel
import CustomLayers
import Synchronization
import TensorCore
import Testing

@testable import Engine

/// Core ML's guarantees to a custom layer, in addition to its values.
@Suite(.serialized) struct CustomLayerContractTests {
  private typealias Net = TestNetwork

  /// A model with the inputs `a` and `b` of exact shapes and one custom layer with two outputs.
  private func model(_ shape: [Int], exact: Bool) -> Model {
    var custom = Custom()
    custom.className = RunningSum.className
    var network = NeuralNetwork()
    if exact { network.arrayInputShapeMapping = .exact }
    network.layers = [
      NeuralNetworkLayer("sum", custom, input: ["a", "b"], output: ["total", "runs"])
    ]
    var description = ModelDescription()
    func feature(_ name: String, _ shape: [Int]) -> FeatureDescription {
      FeatureDescription(
        name: name, kind: .multiArray(ArrayFeatureType(shape: shape, dataType: .double)))
    }
    description.input = [feature("a", shape), feature("b", shape)]
    description.output = [feature("total", []), feature("runs", [])]
    var model = Model()
    model.specificationVersion = exact ? 4 : 2
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }

  private func options(_ counts: RunningSum.Counts, _ shape: [Int]) -> CompileOptions {
    var options = CompileOptions()
    RunningSum.counts.withLock { $0 = counts }
    options.customLayers.register(RunningSum.self)
    options.inputShapes = ["a": shape, "b": shape]
    return options
  }

  @Test(arguments: [[2, 3], [4], [2, 3, 2], [1, 1, 2, 2, 2]])
  func severalInputsAndOutputsOfAnyRankWithAState(shape: [Int]) throws {
    let exact = shape.count != 5
    let model = model(exact ? shape : Array(shape.dropFirst(2)), exact: exact)
    let inputs = ["a": Net.tensor(shape, seed: 1), "b": Net.tensor(shape, seed: 2)]
    var registry = CustomLayerRegistry()
    registry.register(RunningSum.self)
    let network = try CompiledNetwork(model: model, options: options(RunningSum.Counts(), shape))
    let reference = try ReferenceNetwork(model: model, customLayers: registry)
    for run in 1...3 {
      let result = try network.predict(inputs)
      let twin = try reference.predict(inputs.mapValues(ReferenceTensor.init))
      // The sum of both inputs, increasing with each run.
      let expected = zip(inputs["a"]?.elements ?? [], inputs["b"]?.elements ?? []).map {
        ($0 + $1) * Float(run)
      }
      let total = try #require(result["total"])
      #expect(total.shape == shape)
      #expect(zip(total.elements, expected).allSatisfy { abs($0 - $1) < 1e-6 })
      #expect(result["runs"]?.elements == [Float(run)])
      #expect(twin["runs"]?.elements == [Double(run)])
      #expect(twin["total"]?.shape == shape)
    }
  }

  @Test func otherShapesAskTheSameObjectAgain() throws {
    let (one, two) = ([1, 1, 3, 2, 2], [1, 2, 3, 2, 2])
    var small = options(RunningSum.Counts(), one)
    let large = options(RunningSum.Counts(), two)
    let instances = CustomLayerInstances()
    small.customLayerInstances = instances
    var other = large
    other.customLayerInstances = instances
    let model = model([3, 2, 2], exact: false)
    let first = try CompiledNetwork(model: model, options: small)
    func run(_ network: CompiledNetwork, _ shape: [Int]) throws -> [Float]? {
      try network.predict(["a": Net.tensor(shape), "b": Net.tensor(shape)])["runs"]?.elements
    }
    #expect(try run(first, one) == [1])
    let second = try CompiledNetwork(model: model, options: other)
    #expect(try run(second, two) == [2])
    #expect(try run(first, one) == [3])
    let counts = RunningSum.counts.withLock { $0 }
    // Created once; queried at both compilations, and again when the first network runs after the
    // second.
    #expect(counts.made == 1)
    #expect(counts.asked == [one, two, one])
  }

  @Test func weightsComeInThePrecisionOfTheFile() throws {
    let values: [Float] = [0.5, 1, -2.25, 3]
    var half = Custom()
    half.className = "Swish"
    var single = half
    single.blobs = [Weights(values)]
    var weights = Weights()
    weights.float16Value = Half.bytes(values)
    half.blobs = [weights]
    let input = Net.tensor([1, 1, 4, 2, 2])
    let results = try [single, half].map { layer in
      try Net.predict(Net.model([4, 2, 2], [Net.layer("x", layer, "in", "out")]), input)["out"]
    }
    #expect(results[0] != nil)
    #expect(results[0]?.elements == results[1]?.elements)
  }

  @Test func quantisedAndRawWeightsAreRefusedByName() throws {
    var quantized = Weights()
    quantized.rawValue = Bytes([1, 2, 3, 4] as [UInt8])
    let raw = quantized
    quantized.quantization = Quantization()
    quantized.quantization?.numberOfBits = 8
    for (weights, text) in [(quantized, "8-bit quantized"), (raw, "raw bytes")] {
      var layer = Custom()
      layer.className = "Swish"
      layer.blobs = [weights]
      let model = Net.model([4, 2, 2], [Net.layer("x", layer, "in", "out")])
      let error = #expect(throws: ModelError.self) { try CompiledNetwork(model: model) }
      #expect(error?.layer == "x")
      #expect(error?.layerClass == "custom layer Swish")
      #expect(error?.message.contains(text) == true)
    }
  }

  @Test func whatAClassThrowsIsOneLineWithLayerClassAndType() throws {
    enum Mistake: Error, CustomStringConvertible {
      case wrong
      var description: String { "two\nlines" }
    }
    let error = customLayerError(Mistake.wrong, layer: "x", className: "Snake")
    #expect("\(error)" == "layer 'x' (custom layer Snake): it threw Mistake: two lines")
  }
}

/// (a + b) summed over all runs, and the number of runs.
private final class RunningSum: CustomLayer {
  struct Counts: Sendable {
    var made = 0
    var asked: [[Int]] = []
  }

  static let className = "RunningSum"
  static let counts = Mutex(Counts())

  private var total: [Float] = []
  private var runs: Float = 0

  init(parameters: [String: CustomLayerParameter]) throws {
    Self.counts.withLock { $0.made += 1 }
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    Self.counts.withLock { $0.asked.append(inputShapes[0]) }
    return [inputShapes[0], [1]]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    runs += 1
    if total.count != inputs[0].elements.count {
      total = [Float](repeating: 0, count: inputs[0].elements.count)
    }
    for index in total.indices {
      total[index] += inputs[0].elements[index] + inputs[1].elements[index]
      outputs[0].elements[index] = total[index]
    }
    outputs[1].elements[0] = runs
  }
}
