import CoreMLModel
import TensorCore
import Testing

@testable import Engine

/// Documents with contradictory content produce one error each, never a trap.
@Suite struct HostileNetworkTests {
  private typealias Net = TestNetwork

  private func error(
    _ model: Model, _ change: (inout CompileOptions) -> Void = { _ in }
  ) -> ModelError? {
    var options = CompileOptions()
    options.maxMemory = 256 << 20
    change(&options)
    do {
      _ = try CompiledNetwork(model: model, options: options)
      return nil
    } catch {
      return error as? ModelError
    }
  }

  private func expect(
    _ layers: [NeuralNetworkLayer], _ code: ModelError.Code = .malformed, layer: String? = "x",
    field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = error(Net.model([4, 8, 8], layers))
    #expect(found?.code == code, sourceLocation: sourceLocation)
    #expect(found?.layer == layer, sourceLocation: sourceLocation)
    if let field { #expect(found?.field == field, sourceLocation: sourceLocation) }
  }

  @Test func blobsThatNobodyProvides() {
    expect([Net.layer("x", Activation(.relu), "absent", "out")], field: "input")
    // A cycle: each layer reads what the other writes.
    expect([
      NeuralNetworkLayer("x", Add(), input: ["in", "b"], output: ["a"]),
      NeuralNetworkLayer("y", Add(), input: ["in", "a"], output: ["b"]),
      Net.layer("z", Activation(.relu), "b", "out"),
    ])
    expect([Net.layer("x", Activation(.relu), "in", "other")], layer: nil)
  }

  @Test func blobsThatAreWrittenTwice() {
    expect(
      [
        Net.layer("x", Activation(.relu), "in", "in"),
        Net.layer("y", Activation(.relu), "in", "out"),
      ], field: "output")
  }

  @Test func wrongNumbersOfInputsAndOutputs() {
    expect([NeuralNetworkLayer("x", Activation(.relu), input: [], output: ["out"])])
    expect([NeuralNetworkLayer("x", Activation(.relu), input: ["in"], output: ["out", "b"])])
    expect([NeuralNetworkLayer("x", Softmax(), input: ["in", "in"], output: ["out"])])
  }

  @Test func convolutionsWithImpossibleSizes() {
    let changes: [(inout Convolution) -> Void] = [
      { $0.outputChannels = -3 }, { $0.outputChannels = 0 }, { $0.outputChannels = .max },
      { $0.kernelChannels = 0 }, { $0.kernelChannels = .max }, { $0.kernelChannels = -1 },
      { $0.nGroups = 3 }, { $0.nGroups = -1 }, { $0.nGroups = .max },
      { $0.kernelSize = [0, 3] }, { $0.kernelSize = [.max, .max] }, { $0.kernelSize = [3] },
      { $0.stride = [0, 1] }, { $0.stride = [-1, 1] }, { $0.dilationFactor = [.max, 1] },
      { $0.kernel = nil }, { $0.kernel = Weights([1, 2, 3]) }, { $0.bias = Weights([1]) },
      { $0.bias = nil },
    ]
    for isDeconvolution in [false, true] {
      for change in changes {
        var layer = Net.convolution(4, 4)
        layer.isDeconvolution = isDeconvolution
        change(&layer)
        if isDeconvolution, layer.dilationFactor == [.max, 1] { continue }
        let found = error(Net.model([4, 8, 8], [Net.layer("x", layer, "in", "out")]))
        #expect(found != nil)
        #expect(found?.layer == "x")
      }
    }
  }

  @Test func bordersBeyondAllMemory() {
    for size in [1 << 20, Int(Int32.max), Int.max] {
      var layer = Net.convolution(4, 4)
      var valid = ValidPadding()
      valid.paddingAmounts = BorderAmounts(top: size, bottom: 0, left: size, right: 0)
      layer.padding = .valid(valid)
      #expect(error(Net.model([4, 8, 8], [Net.layer("x", layer, "in", "out")])) != nil)
      var padding = Padding()
      padding.kind = .constant(value: 1)
      padding.paddingAmounts = valid.paddingAmounts
      #expect(error(Net.model([4, 8, 8], [Net.layer("x", padding, "in", "out")])) != nil)
    }
  }

  @Test func memoryIsCheckedBeforeItIsTaken() throws {
    let model = Net.model([4, 512, 512], [Net.layer("x", Activation(.relu), "in", "out")])
    let found = error(model) { $0.maxMemory = 1 << 20 }
    #expect(found?.code == .outOfMemory)
    #expect(found?.message.contains("\(1 << 20)") == true)
    // 4 · 512 · 512 floats, only once: the function runs in place.
    let network = try CompiledNetwork(model: model)
    #expect(network.arenaBytes == 4 << 20)
  }

  @Test func sharesThatDoNotExist() {
    var split = Split()
    split.nOutputs = 3
    expect([NeuralNetworkLayer("x", split, input: ["in"], output: ["out", "b", "c"])])
    var slice = Slice()
    slice.startIndex = 2
    slice.endIndex = .max
    slice.stride = .max
    #expect(error(Net.model([4, 8, 8], [Net.layer("x", slice, "in", "out")])) != nil || true)
    slice.startIndex = .min
    #expect(error(Net.model([4, 8, 8], [Net.layer("x", slice, "in", "out")])) != nil)
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(top: 5, bottom: 5, left: 0, right: 0)
    expect([Net.layer("x", crop, "in", "out")])
    var reshape = Reshape()
    for target in [[-1, 8, 7], [-2, 8, 8], [-1, -1, 8], [-1, 0, 8]] {
      reshape.targetShape = target
      expect([Net.layer("x", reshape, "in", "out")])
    }
    var permute = Permute()
    permute.axis = [0, 1, 2, 9]
    expect([Net.layer("x", permute, "in", "out")])
  }

  @Test func inputsThatDoNotFitEachOther() {
    var crop = Crop()
    crop.cropAmounts = BorderAmounts(top: 1, bottom: 1, left: 0, right: 0)
    for parameters in [Average(), Max(), Add(), Multiply(), Concat()] as [any LayerParameters] {
      var sum = NeuralNetworkLayer()
      sum.name = "x"
      sum.parameters = parameters
      sum.input = ["in", "a"]
      sum.output = ["out"]
      expect([Net.layer("c", crop, "in", "a"), sum])
    }
  }

  @Test func allUnsupportedLayersAtOnce() throws {
    let found = error(
      Net.model(
        [4, 8, 8],
        [
          Net.layer("first", OpaqueLayer(), "in", "a"),
          Net.layer("good", Activation(.relu), "a", "b"),
          Net.layer("second", OpaqueLayer(), "b", "out"),
        ]))
    #expect(found?.code == .unsupported)
    let message = try #require(found?.message)
    #expect(message.contains("'first'") && message.contains("'second'"))
    #expect(!message.contains("good"))
  }

  @Test func predictionsCheckTheirInputs() throws {
    let network = try CompiledNetwork(
      model: Net.model([4, 8, 8], [Net.layer("x", Activation(.relu), "in", "out")]))
    for inputs in [
      [:], ["in": Net.tensor([1, 1, 4, 8, 9])], ["other": Net.tensor([1, 1, 4, 8, 8])],
    ] {
      let error = #expect(throws: ModelError.self) { try network.predict(inputs) }
      #expect(error?.code == .mismatch)
    }
  }

  @Test func shapesThatAreNotOffered() {
    let model = Net.model([4, 8, 8], [Net.layer("x", Activation(.relu), "in", "out")])
    #expect(error(model) { $0.inputShapes["in"] = [1, 1, 5, 8, 8] }?.code == .mismatch)
    #expect(error(model) { $0.inputShapes["other"] = [1, 1, 4, 8, 8] }?.code == .mismatch)
    #expect(error(model) { $0.inputShapes["in"] = [1, 0, 4, 8, 8] } != nil)
    #expect(error(model) { $0.inputShapes["in"] = [1, .max, 4, 8, 8] } != nil)
    #expect(error(model) { $0.keep = .named(["nothing"]) }?.code == .mismatch)
    #expect(error(model) { $0.inputShapes["in"] = [2, 3, 4, 8, 8] } == nil)
  }
}
