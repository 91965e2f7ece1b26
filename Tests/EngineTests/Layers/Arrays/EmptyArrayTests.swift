import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Layers whose values leave them without elements, as in NumPy.
@Suite struct EmptyArrayTests {
  /// The output of the engine, which the reference implementation confirms.
  private func run(
    _ layers: [NeuralNetworkLayer], _ inputs: [Tensor], outputs: [String] = ["out"]
  ) throws -> [String: Tensor] {
    let model = TestNetwork.exactModel(inputs.map(\.shape), layers, outputs: outputs)
    var named: [String: Tensor] = [:]
    for (index, input) in inputs.enumerated() { named["in\(index)"] = input }
    let result = try CompiledNetwork(model: model).predict(named)
    let twin = try ReferenceNetwork(model: model).predict(named.mapValues(ReferenceTensor.init))
    for name in outputs { #expect(twin[name]?.tensor == result[name], "\(name)") }
    return result
  }

  private let places = TestNetwork.layer("places", WhereNonZero(), "in0", "places")

  @Test func placesOfWhatIsNotZero() throws {
    var turned = Transpose()
    turned.axes = [1, 0]
    let result = try run(
      [places, TestNetwork.layer("turned", turned, "places", "turned")], [Tensor(shape: [2, 3])],
      outputs: ["places", "turned"])
    #expect(result["places"]?.shape == [0, 2])
    #expect(result["turned"]?.shape == [2, 0])
    // The same network finds some in other values.
    let found = try run([places], [Tensor(shape: [1, 3], [0, 5, 0])], outputs: ["places"])
    #expect(found["places"] == Tensor(shape: [1, 2], [0, 1]))
  }

  /// The same network first without elements, then with some: x[mask] = 7.
  @Test func scatter() throws {
    let layers = [
      places,
      NeuralNetworkLayer("sizes", GetShape(), input: ["places"], output: ["sizes"]),
      NeuralNetworkLayer(
        "first",
        {
          var layer = SliceStatic()
          (layer.beginIds, layer.endIds, layer.strides) = ([0], [1], [1])
          (layer.beginMasks, layer.endMasks) = ([false], [false])
          return layer
        }(), input: ["sizes"], output: ["count"]),
      NeuralNetworkLayer(
        "updates",
        {
          var layer = FillDynamic()
          layer.value = 7
          return layer
        }(), input: ["count"], output: ["updates"]),
      NeuralNetworkLayer(
        "out", ScatterND(), input: ["in1", "places", "updates"], output: ["out"]),
    ]
    let x = Tensor(shape: [3], [1, 2, 3])
    #expect(try run(layers, [Tensor(shape: [3]), x])["out"] == x)
    #expect(
      try run(layers, [Tensor(shape: [3], [0, 1, 1]), x])["out"] == Tensor(shape: [3], [1, 7, 7]))
  }

  /// A constant result has no elements either.
  @Test func emptyConstant() throws {
    let shape = LoadConstantND(shape: [2], Weights([0, 3]))
    let result = try run(
      [
        NeuralNetworkLayer("shape", shape, input: [], output: ["shape"]),
        TestNetwork.layer("out", FillDynamic(), "shape", "out"),
        TestNetwork.layer("sin", Sin(), "in0", "sin"),
      ], [Tensor(shape: [2])], outputs: ["out", "sin"])
    #expect(result["out"]?.shape == [0, 3])
    #expect(result["sin"] == Tensor(shape: [2]))
  }

  /// np.tile([[4], [5]], (1, 0)), then with (1, 2)
  @Test func repeatedNever() throws {
    let tile = NeuralNetworkLayer("out", Tile(), input: ["in0", "in1"], output: ["out"])
    let x = Tensor(shape: [2, 1], [4, 5])
    #expect(try run([tile], [x, Tensor(shape: [2], [1, 0])])["out"]?.shape == [2, 0])
    #expect(
      try run([tile], [x, Tensor(shape: [2], [1, 2])])["out"]
        == Tensor(shape: [2, 2], [4, 4, 5, 5]))
  }

  @Test func slicesAndConcatenation() throws {
    let layers = [
      NeuralNetworkLayer("slice", SliceDynamic(), input: ["in0", "in1", "in2"], output: ["part"]),
      NeuralNetworkLayer("out", ConcatND(), input: ["in0", "part", "in0"], output: ["out"]),
    ]
    let result = try run(
      layers, [Tensor(shape: [2], [4, 5]), Tensor(shape: [1], [2]), Tensor(shape: [1], [2])],
      outputs: ["part", "out"])
    #expect(result["part"]?.shape == [0])
    #expect(result["out"]?.elements == [4, 5, 4, 5])
  }

  @Test func sumAndWhatHasNoValue() throws {
    var sum = ReduceSum()
    (sum.axes, sum.keepDims) = ([0], false)
    let zeros = Tensor(shape: [4])
    let result = try run([places, TestNetwork.layer("out", sum, "places", "out")], [zeros])
    #expect(result["out"] == Tensor(shape: [1], [0]))
    var most = ReduceMax()
    (most.axes, most.keepDims) = ([0], false)
    #expect(throws: ModelError.self) {
      try run([places, TestNetwork.layer("out", most, "places", "out")], [zeros])
    }
  }
}
