import CoreMLModel
import MILExport
import ModelPrediction
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Arrays that have lost all axes, with the shapes of NumPy.
@Suite struct RankZeroTests {
  /// The output of the engine, which the reference implementation and the network as an ML Program
  /// confirm.
  private func run(
    _ layers: [NeuralNetworkLayer], _ input: Tensor, outputs: [String] = ["out"]
  ) throws -> [String: Tensor] {
    let model = TestNetwork.exactModel([input.shape], layers, outputs: outputs)
    let result = try CompiledNetwork(model: model).predict(["in0": input])
    let twin = try ReferenceNetwork(model: model).predict(["in0": ReferenceTensor(input)])
    for name in outputs { #expect(twin[name]?.tensor == result[name], "\(name)") }
    let program = try Predictor(model: model.mlProgram(ProgramOptions()))
    for output in try program.predict(["in0": .array(input)]).outputs {
      #expect(output.value.elements == result[output.name]?.elements, "\(output.name)")
    }
    return result
  }

  private func expanded(_ axes: [Int], _ input: String, _ output: String) -> NeuralNetworkLayer {
    var layer = ExpandDims()
    layer.axes = axes
    return TestNetwork.layer(output, layer, input, output)
  }

  private var squeezed: NeuralNetworkLayer {
    var layer = Squeeze()
    layer.squeezeAll = true
    return TestNetwork.layer("squeezed", layer, "in0", "number")
  }

  /// `in0[1]`
  private var element: NeuralNetworkLayer {
    var layer = SliceStatic()
    (layer.beginIds, layer.endIds, layer.strides) = ([1], [2], [1])
    (layer.beginMasks, layer.endMasks, layer.squeezeMasks) = ([false], [false], [true])
    return TestNetwork.layer("element", layer, "in0", "number")
  }

  /// np.expand_dims(np.squeeze([[3]]) + 1, 0) has the shape (1,).
  @Test func functionOfANumber() throws {
    var add = Add()
    add.alpha = 1
    let result = try run(
      [
        squeezed, TestNetwork.layer("sum", add, "number", "sum"),
        TestNetwork.layer("ceil", Ceil(), "sum", "up"), expanded([0], "up", "out"),
      ], Tensor(shape: [1, 1], [3]))
    #expect(result["out"] == Tensor(shape: [1], [4]))
  }

  /// Core ML's arrays have at least one axis: a network returns a scalar as [1].
  @Test func asAnOutput() throws {
    let result = try run(
      [element, expanded([0, 1], "number", "matrix")], Tensor(shape: [3], [2, 3, 5]),
      outputs: ["number", "matrix"])
    #expect(result["number"] == Tensor(shape: [1], [3]))
    #expect(result["matrix"] == Tensor(shape: [1, 1], [3]))
  }

  /// np.stack([3, 3]) is [3, 3]; [2, 3, 5] + 3 is [5, 6, 8].
  @Test func stackedAndBroadcast() throws {
    let result = try run(
      [
        element,
        NeuralNetworkLayer("stack", Stack(), input: ["number", "number"], output: ["pair"]),
        NeuralNetworkLayer("new", AddBroadcastable(), input: ["in0", "number"], output: ["new"]),
        NeuralNetworkLayer("old", Add(), input: ["number", "in0"], output: ["old"]),
      ], Tensor(shape: [3], [2, 3, 5]), outputs: ["pair", "new", "old"])
    #expect(result["pair"] == Tensor(shape: [2], [3, 3]))
    #expect(result["new"] == Tensor(shape: [3], [5, 6, 8]))
    #expect(result["old"] == Tensor(shape: [3], [5, 6, 8]))
  }

  /// Layers that need an axis treat a scalar as an array of one element.
  @Test func layersThatNeedAxes() throws {
    let result = try run(
      [
        element,
        NeuralNetworkLayer("join", ConcatND(), input: ["number", "in0"], output: ["joined"]),
        TestNetwork.layer("sum", ReduceSum(), "number", "sum"),
      ], Tensor(shape: [3], [2, 3, 5]), outputs: ["joined", "sum"])
    #expect(result["joined"] == Tensor(shape: [4], [3, 2, 3, 5]))
    #expect(result["sum"]?.elements == [3])
  }

  /// A scalar that a loop carries: 3 · 2³ = 24.
  @Test func inALoop() throws {
    var loop = Loop()
    loop.maxLoopIterations = 3
    var body = NeuralNetwork()
    body.layers = [
      NeuralNetworkLayer(
        "twice", AddBroadcastable(), input: ["number", "number"], output: ["double"]),
      TestNetwork.layer("again", Copy(), "double", "number"),
    ]
    loop.bodyNetwork = body
    let result = try run(
      [
        element, NeuralNetworkLayer("loop", loop, input: [], output: []),
        expanded([0, 1], "number", "out"),
      ], Tensor(shape: [3], [2, 3, 5]))
    #expect(result["out"] == Tensor(shape: [1, 1], [24]))
  }
}
