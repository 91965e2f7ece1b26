import CoreMLModel
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Short notations for the layers of loops.
private enum Flow {
  static func network(_ layers: [NeuralNetworkLayer]) -> NeuralNetwork {
    var network = NeuralNetwork()
    network.layers = layers
    return network
  }

  static func constant(_ name: String, _ values: [Float]) -> NeuralNetworkLayer {
    NeuralNetworkLayer(
      name, LoadConstantND(shape: [values.count], Weights(values)), input: [], output: [name])
  }

  static func copy(_ from: String, _ to: String) -> NeuralNetworkLayer {
    TestNetwork.layer("\(from) to \(to)", Copy(), from, to)
  }

  static func pair(
    _ layer: some LayerParameters, _ a: String, _ b: String, _ output: String
  ) -> NeuralNetworkLayer {
    NeuralNetworkLayer(output, layer, input: [a, b], output: [output])
  }

  /// a < bound
  static func less(_ a: String, _ bound: Float, _ output: String) -> NeuralNetworkLayer {
    var layer = LessThan()
    layer.alpha = bound
    return TestNetwork.layer(output, layer, a, output)
  }

  static func branch(
    _ condition: String, _ first: [NeuralNetworkLayer], _ second: [NeuralNetworkLayer] = []
  ) -> NeuralNetworkLayer {
    var layer = Branch()
    layer.ifBranch = network(first)
    layer.elseBranch = second.isEmpty ? nil : network(second)
    return NeuralNetworkLayer("on \(condition)", layer, input: [condition], output: [])
  }

  static func loop(
    _ name: String = "loop", count: String? = nil, most: Int = 0,
    while condition: (String, [NeuralNetworkLayer])? = nil, _ body: [NeuralNetworkLayer]
  ) -> NeuralNetworkLayer {
    var layer = Loop()
    layer.maxLoopIterations = most
    layer.bodyNetwork = network(body)
    if let condition {
      layer.conditionVar = condition.0
      layer.conditionNetwork = network(condition.1)
    }
    return NeuralNetworkLayer(name, layer, input: count.map { [$0] } ?? [], output: [])
  }

  static let leave = NeuralNetworkLayer("leave", LoopBreak(), input: [], output: [])
  static let next = NeuralNetworkLayer("next", LoopContinue(), input: [], output: [])

  /// A trial of a loop that adds the first input to `out0`, which starts with the same value.
  static func trial(
    _ label: String, _ change: (inout [NeuralNetworkLayer]) -> Void = { _ in }
  ) -> LayerTrial {
    var body = [pair(AddBroadcastable(), "out0", "in0", "sum"), copy("sum", "out0")]
    change(&body)
    var first = Branch()
    first.ifBranch = network([copy("in0", "out0"), loop(most: 4, body)])
    var trial = LayerTrial(label, first, [[1, 5]], values: [0: [1, -2, 3, 0.5, 7]])
    trial.innerOutputs = 1
    return trial
  }
}

extension Copy: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [LayerTrial("[2, 3, 5]", Copy(), [[2, 3, 5]]), LayerTrial("[7]", Copy(), [[7]])]
  }
}

extension Branch: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[0], [1], [-0.5], [1e-7]].map { (values: [Float]) in
      var layer = Branch()
      layer.ifBranch = Flow.network([TestNetwork.layer("sine", Sin(), "in1", "out0")])
      layer.elseBranch = Flow.network([TestNetwork.layer("sum", ReduceSum(), "in1", "out0")])
      var trial = LayerTrial("\(values)", layer, [[1], [3, 5]], values: [0: values])
      trial.innerOutputs = 1
      return trial
    }
  }
}

extension Loop: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] { [Flow.trial("four times")] }
}

extension LoopBreak: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [Flow.trial("once") { $0.append(Flow.leave) }]
  }
}

extension LoopContinue: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [
      Flow.trial("four times") {
        $0 += [Flow.next, TestNetwork.layer("never", Copy(), "in0", "out0")]
      }
    ]
  }
}

/// Loops and branches whose results can be calculated by hand.
@Suite struct ControlFlowTests {
  /// The outputs of the engine, which the reference implementation confirms.
  private func run(
    _ layers: [NeuralNetworkLayer], _ inputs: [[Float]] = [], outputs: [String] = ["out"]
  ) throws -> [String: Tensor] {
    let model = TestNetwork.exactModel(inputs.map { [$0.count] }, layers, outputs: outputs)
    var named: [String: Tensor] = [:]
    for (index, values) in inputs.enumerated() {
      named["in\(index)"] = Tensor(shape: [values.count], values)
    }
    let network = try CompiledNetwork(model: model)
    let result = try network.predict(named)
    #expect(try network.predict(named) == result)
    let twin = try ReferenceNetwork(model: model).predict(named.mapValues(ReferenceTensor.init))
    for name in outputs { #expect(twin[name]?.tensor == result[name], "\(name)") }
    return result
  }

  /// 10 + 9 + … + 1 = 55
  @Test func whileLoop() throws {
    let result = try run(
      [
        Flow.copy("in0", "n"), Flow.constant("out", [0]), Flow.constant("one", [1]),
        Flow.loop(
          while: ("goes", [TestNetwork.layer("goes", Sign(), "n", "goes")]),
          [
            Flow.pair(AddBroadcastable(), "out", "n", "total"), Flow.copy("total", "out"),
            Flow.pair(SubtractBroadcastable(), "n", "one", "less"), Flow.copy("less", "n"),
          ]),
      ], [[10]], outputs: ["out", "n"])
    #expect(result["out"]?.elements == [55])
    #expect(result["n"]?.elements == [0])
  }

  /// 2ⁿ in a loop whose count is an input; it never runs for 0 or less.
  @Test(arguments: [(5, 32), (1, 2), (0, 1), (-3, 1)] as [(Float, Float)])
  func countedLoop(count: Float, power: Float) throws {
    let body = [Flow.pair(AddBroadcastable(), "out", "out", "twice"), Flow.copy("twice", "out")]
    let result = try run(
      [Flow.constant("out", [1]), Flow.loop(count: "in0", body)], [[count]])
    #expect(result["out"]?.elements == [power])
  }

  /// The sum of the odd numbers below 10, with `continue` for even ones and `break` at 10: 25.
  @Test func breakAndContinue() throws {
    let result = try run([
      Flow.constant("n", [0]), Flow.constant("out", [0]), Flow.constant("one", [1]),
      Flow.constant("two", [2]),
      Flow.loop(
        most: 1000,
        [
          Flow.pair(AddBroadcastable(), "n", "one", "more"), Flow.copy("more", "n"),
          Flow.less("n", 10, "small"),
          Flow.branch("small", [Flow.copy("one", "ok")], [Flow.leave]),
          Flow.pair(ModBroadcastable(), "n", "two", "odd"),
          Flow.branch("odd", [Flow.copy("one", "ok")], [Flow.next]),
          Flow.pair(AddBroadcastable(), "out", "n", "total"), Flow.copy("total", "out"),
        ]),
    ])
    #expect(result["out"]?.elements == [25])
  }

  /// Arrays grow in nested loops: 3 · 2³ elements, doubled in each iteration of the outer loop.
  @Test func growingShapes() throws {
    var stretch = ConcatND()
    stretch.axis = 0
    let result = try run(
      [
        Flow.copy("in0", "out"), Flow.constant("count", [0]), Flow.constant("one", [1]),
        Flow.loop(
          "outer", most: 3,
          [
            Flow.pair(stretch, "out", "out", "longer"), Flow.copy("longer", "out"),
            Flow.loop(
              "inner", most: 2,
              [Flow.pair(AddBroadcastable(), "count", "one", "more"), Flow.copy("more", "count")]),
          ]),
      ], [[1, 2, 3]], outputs: ["out", "count"])
    #expect(result["out"]?.elements == (0..<8).flatMap { _ in [1, 2, 3] })
    #expect(result["count"]?.elements == [6])
  }

  /// A slice whose index is the loop's counter: x[0] + 2 · x[1] + 3 · x[2] and so on.
  @Test func countedSlices() throws {
    var slice = SliceDynamic()
    slice.endMasks = [false]
    let result = try run(
      [
        Flow.constant("n", [0]), Flow.constant("out", [0]), Flow.constant("one", [1]),
        Flow.loop(
          most: 4,
          [
            Flow.pair(AddBroadcastable(), "n", "one", "end"),
            NeuralNetworkLayer("part", slice, input: ["in0", "n", "end"], output: ["part"]),
            Flow.pair(MultiplyBroadcastable(), "part", "end", "term"),
            Flow.pair(AddBroadcastable(), "out", "term", "total"), Flow.copy("total", "out"),
            Flow.copy("end", "n"),
          ]),
      ], [[3, 5, 7, 11]])
    #expect(result["out"]?.elements == [3 + 10 + 21 + 44])
  }

  /// The eigenvalue of numpy.linalg.eigh, by power iteration until nothing changes.
  @Test func powerIteration() throws {
    let golden = Goldens.computed("power")
    let matrix = try golden.values("matrix")
    var squeeze = ReduceL2()
    squeeze.reduceAll = true
    var difference = ReduceMax()
    difference.reduceAll = true
    let constant = LoadConstantND(shape: [3, 3], Weights(matrix))
    let result = try run(
      [
        NeuralNetworkLayer("matrix", constant, input: [], output: ["matrix"]),
        Flow.copy("in0", "x"), Flow.constant("out", [0]),
        Flow.loop(
          most: 500,
          [
            Flow.pair(BatchedMatMul(), "matrix", "x", "y"),
            TestNetwork.layer("length", squeeze, "y", "length"),
            Flow.pair(DivideBroadcastable(), "y", "length", "unit"),
            Flow.pair(AddBroadcastable(), "unit", "x", "opposite"),
            TestNetwork.layer("largest", difference, "opposite", "largest"),
            Flow.copy("unit", "x"), Flow.copy("length", "out"),
          ]),
      ], [try golden.values("start")])
    let expected = abs(try golden.values("value")[0])
    #expect(abs((result["out"]?.elements[0] ?? 0) - expected) < 1e-5 * expected)
  }

  /// Two blobs are swapped three times.
  @Test func exchange() throws {
    let result = try run(
      [
        Flow.copy("in0", "a"), Flow.copy("in1", "b"),
        Flow.loop(most: 3, [Flow.copy("a", "was"), Flow.copy("b", "a"), Flow.copy("was", "b")]),
      ], [[1, 2], [3, 4]], outputs: ["a", "b"])
    #expect(result["a"]?.elements == [3, 4])
    #expect(result["b"]?.elements == [1, 2])
  }

  /// Later predictions change neither earlier results nor inputs: 2³ · x, for different sizes.
  @Test(arguments: [1, 5000]) func resultsAreKept(count: Int) throws {
    let model = TestNetwork.exactModel(
      [[count]],
      [
        Flow.copy("in0", "out"),
        Flow.loop(
          most: 3,
          [Flow.pair(AddBroadcastable(), "out", "out", "twice"), Flow.copy("twice", "out")]
        ),
      ])
    let network = try CompiledNetwork(model: model)
    let inputs = (1...4).map { Tensor(shape: [count], [Float](repeating: Float($0), count: count)) }
    let results = try inputs.map { try network.predict(["in0": $0])["out"] }
    for (index, result) in results.enumerated() {
      let x = Float(index + 1)
      #expect(inputs[index].elements.allSatisfy { $0 == x })
      #expect(result?.elements == [Float](repeating: 8 * x, count: count))
    }
  }

  /// Each iteration of a loop draws different numbers, each prediction the same.
  @Test func randomNumbersInLoops() throws {
    var random = RandomUniformStatic()
    (random.outputShape, random.parameters.maxVal) = ([4], 1)
    let layer = NeuralNetworkLayer("random", random, input: [], output: ["drawn"])
    let result = try run(
      [
        Flow.constant("last", [0, 0, 0, 0]),
        Flow.loop(most: 3, [layer, Flow.copy("last", "before"), Flow.copy("drawn", "last")]),
        Flow.copy("last", "out"),
      ], outputs: ["out", "before"])
    #expect(result["out"] != result["before"])
    #expect(Set(result["out"]?.elements ?? []).count == 4)
  }

  @Test func faultsAreNamed() throws {
    func message(_ layers: [NeuralNetworkLayer]) -> String {
      do {
        _ = try run([Flow.constant("out", [1])] + layers)
        return ""
      } catch { return "\(error)" }
    }
    #expect(message([Flow.leave]).contains("not in the body of a loop"))
    #expect(
      message([Flow.loop(most: 0, [Flow.copy("out", "a")])]).contains("nothing terminates the loop")
    )
    #expect(
      message([Flow.loop(most: 2, [Flow.copy("missing", "a")])])
        .contains("neither an input nor an earlier layer produces the blob 'missing'"))
    #expect(
      message([Flow.branch("none", [Flow.copy("out", "a")])]).contains("no layer has produced"))
  }

  @Test func loopsEnd() {
    var runs = LoopRuns(limit: 3)
    #expect(throws: Never.self) { for _ in 0..<3 { try runs.begin() } }
    #expect(throws: ModelError.self) { try runs.begin() }
  }
}
