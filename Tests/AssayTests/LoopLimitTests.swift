import ByteFormats
import CoreMLModel
import TensorCore
import TestSupport
import Testing

/// The maximum number of loop iterations in one prediction, and one more, which is refused.
@Suite(.unsanitized) struct LoopLimitTests {
  /// `out` starts at 0 and grows by 1 in each iteration.
  private static func model(runs: Int) -> Model {
    func layer(
      _ name: String, _ parameters: any LayerParameters, _ input: [String], _ output: [String]
    ) -> NeuralNetworkLayer {
      NeuralNetworkLayer(name, parameters, input: input, output: output)
    }
    var body = NeuralNetwork()
    body.layers = [
      layer("add", AddBroadcastable(), ["out", "in"], ["sum"]),
      layer("keep", Copy(), ["sum"], ["out"]),
    ]
    var loop = Loop()
    loop.maxLoopIterations = runs
    loop.bodyNetwork = body
    var network = NeuralNetwork()
    network.arrayInputShapeMapping = .exact
    network.layers = [
      layer("start", LoadConstantND(shape: [1], Weights([0])), [], ["out"]),
      layer("loop", loop, [], []),
    ]
    var model = Model()
    model.specificationVersion = 4
    var description = ModelDescription()
    let array = FeatureType.Kind.multiArray(
      ArrayFeatureType(shape: [1], dataType: .float32))
    description.input = [FeatureDescription(name: "in", kind: array)]
    description.output = [FeatureDescription(name: "out", kind: array)]
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }

  @Test(arguments: [Limits.loopRuns, Limits.loopRuns + 1])
  func runs(_ runs: Int) throws {
    try withTemporaryFolder { folder in
      try Self.model(runs: runs).write(to: folder + "/m.mlmodel")
      try writeFile(Array("[1]".utf8), to: folder + "/x.json")
      let result = try Program(Command.binary).run(
        ["run", "m.mlmodel", "x.json", "--json"], in: folder)
      guard runs == Limits.loopRuns else {
        #expect(result.code == 2, "\(result.errors)")
        #expect(result.errors.contains("m.mlmodel"), "\(result.errors)")
        #expect(result.errors.contains("\(Limits.loopRuns)"), "\(result.errors)")
        return
      }
      #expect(result.code == 0, "\(result.errors)")
      let json = try JSONValue(parsing: result.output)
      #expect(json["outputs"]?["out"]?.array?.first?.double == Double(runs))
    }
  }
}
