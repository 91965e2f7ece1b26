import CoreMLModel
import LibC
import TensorCore
import TestSupport
import Testing

@testable import Engine

extension RangeDynamic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    (1...3).map { count in
      var layer = RangeDynamic()
      (layer.startValue, layer.stepSizeValue) = (-1, 0.75)
      let values: [Int: [Float]] = [0: [7.5], 1: [2], 2: [1.5]]
      return LayerTrial(
        "\(count) inputs", layer, [[Int]](repeating: [1], count: count),
        values: values.filter { $0.key < count })
    }
  }
}

extension FillDynamic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[3], [2, 5], [1, 4, 3, 2]].map { shape in
      var layer = FillDynamic()
      layer.value = 1.25
      return LayerTrial("\(shape)", layer, [[shape.count]], values: [0: shape.map { Float($0) }])
    }
  }
}

extension BroadcastToDynamic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([1], [5]), ([3, 1], [2, 3, 4]), ([2, 1, 3, 1], [2, 5, 3, 7]),
    ]
    return cases.map { shape, target in
      LayerTrial(
        "\(shape) to \(target)", BroadcastToDynamic(), [shape, [target.count]],
        values: [1: target.map { Float($0) }])
    }
  }
}

extension ReshapeDynamic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], [Int])] = [
      ([6], [2, 3]), ([2, 3, 4], [4, -1]), ([2, 17, 3, 4], [17, 24]), ([5, 4], [2, -1, 1, 5]),
    ]
    return cases.map { shape, target in
      LayerTrial(
        "\(shape) to \(target)", ReshapeDynamic(), [shape, [target.count]],
        values: [1: target.map { Float($0) }])
    }
  }
}

extension SliceDynamic: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    (2...7).map { count in
      var layer = SliceDynamic()
      layer.endIds = [4, -1, 6, 1, 1]
      layer.strides = [1, 2, 3]
      layer.beginMasks = [false, false, true, false, false]
      layer.endMasks = [false, true, false]
      let values: [Int: [Float]] = [
        1: [1, -4, 0], 2: [3, 5, 2], 3: [2, 1, -1], 4: [0, 0, 1], 5: [0, 0, 1], 6: [1, 0, 0],
      ]
      return LayerTrial(
        "\(count) inputs", layer, [[4, 5, 6]] + [[Int]](repeating: [3], count: count - 1),
        values: values.filter { $0.key < count })
    }
  }
}

extension SliceBySize: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let cases: [([Int], Int, Int, Float)] = [
      ([7], 0, 3, 2), ([3, 5], 1, 2, 3), ([2, 17, 3, 4], -3, 16, 1), ([4, 6], 0, 2, -3),
      ([4, 6], 1, 6, 0), ([4, 6], 1, 3, 5),
    ]
    return cases.map { shape, axis, size, begin in
      var layer = SliceBySize()
      (layer.axis, layer.size) = (axis, size)
      return LayerTrial(
        "\(size) of \(shape) from \(begin)", layer, [shape, [1]], values: [1: [begin]])
    }
  }
}

extension WhereNonZero: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    [[9], [3, 5], [2, 17, 3], [2, 3, 1, 4, 2]].map { shape in
      let values = (0..<shape.reduce(1, *)).map { $0 == 1 ? 1 : Float(random.number(-1...1)) }
      return LayerTrial("\(shape)", WhereNonZero(), [shape], values: [0: values])
    }
  }
}

@Suite struct ComputedSizesTests {
  /// Compared with NumPy: nonzero, slices, ranges.
  @Test func goldens() throws {
    let golden = Goldens.computed("sizes")
    let x = try golden.tensor("x")
    func predict(
      _ layer: some DynamicLayer, _ inputs: [ReferenceTensor], _ expected: String
    ) throws {
      let model = TestNetwork.exactModel(
        inputs.map(\.shape),
        [
          NeuralNetworkLayer(
            "layer", layer, input: inputs.indices.map { "in\($0)" },
            output: layer is TopK ? ["out", "places"] : ["out"])
        ])
      var named: [String: ReferenceTensor] = [:]
      for (index, input) in inputs.enumerated() { named["in\(index)"] = input }
      let actual = try CompiledNetwork(model: model).predict(named.mapValues(\.tensor))["out"]
      let twin = try ReferenceNetwork(model: model).predict(named)["out"]
      #expect(actual == (try golden.tensor(expected)).tensor, "\(expected)")
      #expect(twin?.tensor == actual)
    }
    func vector(_ values: [Double]) -> ReferenceTensor {
      ReferenceTensor(shape: [values.count], values)
    }
    try predict(WhereNonZero(), [x], "nonzero")
    var slice = SliceDynamic()
    slice.endMasks = [false, true, false, false, false]
    slice.strides = [1, -2, 1, 1, 1]
    try predict(slice, [x, vector([1, -1, 0]), vector([3, 0, 4])], "slice")
    var range = RangeDynamic()
    range.stepSizeValue = 0.75
    try predict(range, [vector([4]), vector([-1])], "range")
    var tile = Tile()
    tile.reps = [9]
    try predict(tile, [x, vector([2, 1, 3])], "tile")
    var top = TopK()
    top.axis = -1
    try predict(top, [x, vector([2])], "top")
    try predict(
      Convolution.ofInput, [try golden.tensor("image"), try golden.tensor("kernel")], "convolved")
  }

  /// Sizes that depend only on the shapes of inputs are known before anything runs.
  @Test func shapesDecideAhead() throws {
    let layers = [
      TestNetwork.layer("sizes", GetShape(), "in0", "sizes"),
      NeuralNetworkLayer(
        "two", LoadConstantND(shape: [2], Weights([1, 2])), input: [], output: ["factor"]),
      NeuralNetworkLayer(
        "scaled", MultiplyBroadcastable(), input: ["sizes", "factor"], output: ["target"]),
      TestNetwork.layer("fill", FillDynamic(), "target", "zeros"),
      TestNetwork.layer("activation", Sin(), "in0", "sin"),
      NeuralNetworkLayer("stretch", ConcatND.along(1), input: ["sin", "zeros"], output: ["out"]),
    ]
    let model = TestNetwork.exactModel([[3, 4]], layers)
    let network = try CompiledNetwork(model: model)
    #expect(network.isFixed)
    #expect(network.outputs.map(\.shape) == [[3, 12]])
    #expect(network.steps.count { $0.layerType == "fillDynamic" || $0.kernel == "multiply" } == 0)
  }

  /// One-hot vectors of length 3 for the indices 0 and 2.
  @Test func oneHotOfAGivenSize() throws {
    var layer = OneHot()
    (layer.axis, layer.onValue) = (-1, 1)
    let network = try CompiledNetwork(
      model: TestNetwork.exactModel(
        [[2], [1]],
        [NeuralNetworkLayer("one", layer, input: ["in0", "in1"], output: ["out"])]))
    let result = try network.predict([
      "in0": Tensor(shape: [2], [0, 2]), "in1": Tensor(shape: [1], [3]),
    ])
    #expect(result["out"] == Tensor(shape: [2, 3], [1, 0, 0, 0, 0, 1]))
  }

  /// Only what depends on values waits for them, and other values lead to other shapes.
  @Test func valuesDecideOnTheWay() throws {
    let layers = [
      TestNetwork.layer("places", WhereNonZero(), "in0", "places"),
      TestNetwork.layer("sin", Sin(), "in0", "sin"),
      NeuralNetworkLayer("pick", GatherND(), input: ["sin", "places"], output: ["picked"]),
      TestNetwork.layer("sum", ReduceSum(), "picked", "out"),
    ]
    let network = try CompiledNetwork(
      model: TestNetwork.exactModel([[2, 3]], layers, outputs: ["out", "picked"]))
    #expect(!network.isFixed)
    #expect(network.steps.contains { $0.name == "sin" })
    for values in [
      [0, 1, 0, 0, 2, 0], [3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1],
    ] {
      let input = Tensor(shape: [2, 3], values.map(Float.init))
      let result = try network.predict(["in0": input])
      let kept = values.filter { $0 != 0 }
      #expect(result["picked"]?.shape == [kept.count])
      let sum = kept.reduce(0) { $0 + sin(Double($1)) }
      #expect(abs(Double(result["out"]?.elements[0] ?? 0) - sum) < 1e-6)
    }
  }
}

extension Convolution {
  /// 3 × 2 windows with weights from an input.
  fileprivate static var ofInput: Convolution {
    var layer = Convolution()
    (layer.outputChannels, layer.kernelChannels, layer.kernelSize) = (4, 3, [3, 2])
    (layer.stride, layer.padding) = ([1, 1], .valid(ValidPadding()))
    return layer
  }
}

extension ConcatND {
  fileprivate static func along(_ axis: Int) -> ConcatND {
    var layer = ConcatND()
    layer.axis = axis
    return layer
  }
}
