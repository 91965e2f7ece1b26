import CoreMLModel
import CustomLayers
import LibC
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// Classes for apps as plug-ins, compared with the built-in ones.
@Suite struct PluginLayerTests {
  static func custom(
    _ className: String, _ change: (inout Custom) -> Void = { _ in }
  ) -> Custom {
    var layer = Custom()
    layer.className = className
    change(&layer)
    return layer
  }

  /// A model with one layer, array inputs `in0`… and outputs `out0`….
  static func model(
    _ layer: Custom, inputs: [[Int]], outputCount: Int = 1, isExact: Bool = false
  ) -> Model {
    let inputNames = inputs.indices.map { "in\($0)" }
    let outputNames = (0..<outputCount).map { "out\($0)" }
    var network = NeuralNetwork()
    network.layers = [
      NeuralNetworkLayer("layer", layer, input: inputNames, output: outputNames)
    ]
    if isExact { network.arrayInputShapeMapping = .exact }
    var description = ModelDescription()
    description.input = zip(inputNames, inputs).map { name, shape in
      FeatureDescription(
        name: name,
        kind: .multiArray(
          ArrayFeatureType(shape: isExact ? shape : Array(shape[2...]), dataType: .double)))
    }
    description.output = outputNames.map {
      FeatureDescription(
        name: $0, kind: .multiArray(ArrayFeatureType(shape: [], dataType: .double)))
    }
    var model = Model()
    model.description = description
    model.type = .neuralNetwork(network)
    return model
  }

  static func predict(
    _ model: Model, _ inputs: [Tensor], _ registry: CustomLayerRegistry
  ) throws -> [Tensor] {
    var options = CompileOptions()
    options.customLayers = registry
    let values = Dictionary(
      uniqueKeysWithValues: inputs.enumerated().map { ("in\($0.offset)", $0.element) })
    options.inputShapes = values.mapValues(\.shape)
    let network = try CompiledNetwork(model: model, options: options)
    let outputs = try network.predict(values)
    return try network.outputs.map { try #require(outputs[$0.name]) }
  }

  /// Values over the range of Swish, from an output of 0 to an infinite exponential.
  private static func values(_ shape: [Int]) -> Tensor {
    var generator = SplitMix64(seed: 3)
    return Tensor(
      shape: shape,
      (0..<shape.reduce(1, *)).map { index in
        let range: ClosedRange<Float> = index % 3 == 0 ? -100...20 : -4...4
        return Float.random(in: range, using: &generator)
      })
  }

  static let trials: [(Custom, shape: [Int])] = [
    (custom("Swish"), [1, 1, 6, 37, 41]),
    (custom("Swish") { $0.parameters = ["beta": .double(0.01)] }, [1, 1, 6, 17, 9]),
    (custom("Swish") { $0.parameters = ["beta": .double(-1.7)] }, [2, 3, 5, 4, 3]),
    (
      custom("Swish") { $0.blobs = [Weights([0.5, 1, -2, 0.01, 1.25])] }, [2, 1, 5, 13, 11]
    ),
    (custom("ResCropBlockLambda"), [1, 1, 64, 11, 8]),
    (custom("ResCropBlockLambda"), [2, 3, 7, 5, 6]),
    (custom("RescaleOutputLambda"), [1, 1, 3, 40, 31]),
  ]

  @Test(arguments: 0..<PluginLayerTests.trials.count) func accelerateEqualsTheBuiltInLayerToTheBit(
    _ trial: Int
  ) throws {
    let (layer, shape) = Self.trials[trial]
    let registry = try PluginFixture.registry(PluginFixture.library("AccelerateLayers"))
    let model = Self.model(layer, inputs: [shape])
    let inputs = [Self.values(shape)]
    let found = try Self.predict(model, inputs, registry)[0]
    let wanted = try Self.predict(model, inputs, CustomLayerRegistry())[0]
    #expect(found.shape == wanted.shape)
    let pairs = zip(found.elements, wanted.elements)
    let wrong = pairs.first { $0.bitPattern != $1.bitPattern }
    #expect(wrong == nil, "\(layer.className) of \(shape): \(wrong.map { "\($0)" } ?? "")")
  }

  #if os(Linux)
    /// The stand-ins for vDSP and vForce, compared with values calculated by hand.
    @Test func everyFunctionOfAccelerateComputesWhatItsNameSays() throws {
      try withTemporaryFolder { folder in
        let support = packageRoot + "/Sources/PluginSupport/Support"
        try PluginFixture.run(
          "clang",
          [
            "-O2", "-I\(packageRoot)/Sources/CAssayPlugin",
            "-I\(support)/CAssayPlugin/include", "-I\(support)/Accelerate", "-o",
            folder + "/vectors", PluginFixture.folder + "/c/vectors.c",
            support + "/CAssayPlugin/host.c", "-lm",
          ])
        try PluginFixture.run(folder + "/vectors", [])
      }
    }
  #endif

  @Test(arguments: 0..<PluginLayerTests.trials.count) func aLoopIsWithinFourULP(_ trial: Int) throws
  {
    let (layer, shape) = Self.trials[trial]
    let registry = try PluginFixture.registry(PluginFixture.library("LoopLayers"))
    let model = Self.model(layer, inputs: [shape])
    let inputs = [Self.values(shape)]
    let found = try Self.predict(model, inputs, registry)[0]
    let wanted = try Self.predict(model, inputs, CustomLayerRegistry())[0]
    #expect(found.shape == wanted.shape)
    let wrong = zip(found.elements, wanted.elements).first {
      !(abs($0 - $1) <= 4 * $1.ulp)
    }
    #expect(wrong == nil, "\(layer.className) of \(shape): \(wrong.map { "\($0)" } ?? "")")
  }

  /// Checks the crop by the rows and columns of its input instead of another implementation: every
  /// value is its index.
  @Test(arguments: ["AccelerateLayers", "LoopLayers"])
  func everyValueOfTheCropIsWritten(_ library: String) throws {
    let registry = try PluginFixture.registry(PluginFixture.library(library))
    let input = Tensor(shape: [1, 1, 2, 9, 7], (0..<126).map { Float($0) })
    let output = try Self.predict(
      Self.model(Self.custom("ResCropBlockLambda"), inputs: [[1, 1, 2, 9, 7]]), [input], registry
    )[0]
    var wanted: [Float] = []
    for plane in [0, 63] {
      for y in 2..<7 { for x in 2..<5 { wanted.append(Float(plane + y * 7 + x)) } }
    }
    #expect(output.shape == [1, 1, 2, 5, 3])
    #expect(output.elements == wanted)
  }

  /// tanh(scale · x + w) and a ± b, from a plug-in in C, at ranks 1, 3 and 5.
  @Test(arguments: [[4], [2, 3, 4], [1, 1, 2, 3, 4]]) func layersInC(_ shape: [Int]) throws {
    try withTemporaryFolder { folder in
      let registry = try PluginFixture.registry(PluginFixture.compiled(in: folder))
      let a = Self.values(shape)
      var generator = SplitMix64(seed: 9)
      let b = Tensor(
        shape: shape, a.elements.map { _ in Float.random(in: -1...1, using: &generator) })
      let sums = try Self.predict(
        Self.model(
          Self.custom("SumAndDifference"), inputs: [shape, shape], outputCount: 2, isExact: true),
        [a, b], registry)
      #expect(sums.map(\.shape) == [shape, shape])
      #expect(sums[0].elements == zip(a.elements, b.elements).map { $0 + $1 })
      #expect(sums[1].elements == zip(a.elements, b.elements).map { $0 - $1 })

      for isHalf in [false, true] {
        let affine = Self.custom("Affine") {
          $0.parameters = [
            "scale": .double(0.25), "int": .int(-7), "long": .long(1 << 40), "bool": .bool(true),
            "string": .string("grüß"),
          ]
          var weights = Weights([0.5, -1, 2, 0])
          if isHalf {
            weights = Weights()
            // 0.5, −1, 2, 0 as IEEE 754 half floats.
            weights.float16Value = Bytes([0x3800, 0xbc00, 0x4000, 0] as [UInt16])
          }
          $0.blobs = [weights, Weights([0, 0, 0, 0])]
        }
        let found = try Self.predict(
          Self.model(affine, inputs: [shape], isExact: true), [b], registry)[0]
        let shifts: [Float] = [0.5, -1, 2, 0]
        for (index, x) in b.elements.enumerated() {
          let argument: Float = 0.25 * x + shifts[index % 4]
          let exact = Double(argument).hyperbolicTangent
          #expect(abs(Double(found.elements[index]) - exact) < 3e-7)
        }
      }
    }
  }

  @Test func anErrorNamesLayerClassAndType() throws {
    let registry = try PluginFixture.registry(PluginFixture.library("LoopLayers"))
    let layer = Self.custom("Swish") { $0.blobs = [Weights([1]), Weights([1])] }
    let error = #expect(throws: ModelError.self) {
      try Self.predict(
        Self.model(layer, inputs: [[1, 1, 2, 3, 3]]), [Self.values([1, 1, 2, 3, 3])], registry)
    }
    #expect(error?.layer == "layer")
    #expect(error?.layerClass == "custom layer Swish")
    #expect(
      error?.message == "setWeightData failed: Mistake: wrongNumberOfWeights(2)",
      "\(error?.message ?? "")")
  }

  /// A loop over columns starts at 1.
  @Test func anIndexThatIsNotThereIsAnError() throws {
    let registry = try PluginFixture.registry(PluginFixture.library("LoopLayers"))
    let error = #expect(throws: ModelError.self) {
      try Self.predict(
        Self.model(Self.custom("Echo"), inputs: [[2, 3]], isExact: true), [Self.values([2, 3])],
        registry)
    }
    #expect(
      error?.message == "evaluate failed: the index [0, 3] is outside an array of shape [2, 3]",
      "\(error?.message ?? "")")
  }

  /// All values that `init(parameters:)` receives, as the class sees them.
  @Test func parametersAreNumbersAndStrings() throws {
    let registry = try PluginFixture.registry(PluginFixture.library("LoopLayers"))
    let layer = Self.custom("Echo") {
      $0.parameters = [
        "double": .double(0.01), "half": .double(0.5), "int": .int(-3), "long": .long(1 << 40),
        "bool": .bool(true), "string": .string("grüß"), "large": .double(1e300),
      ]
    }
    let error = #expect(throws: ModelError.self) {
      try Self.predict(
        Self.model(layer, inputs: [[1, 1, 1, 2, 2]]), [Self.values([1, 1, 1, 2, 2])], registry)
    }
    #expect(
      error?.message == """
        init(parameters:) failed: Seen: bool Bool true, double Float 0.01, engineName String Echo, \
        half Float 0.5, int Int -3, large Float inf, long Int 1099511627776, string String grüß
        """, "\(error?.message ?? "")")
  }
}

extension Double {
  /// Computed with the C library's exponential function in double precision.
  fileprivate var hyperbolicTangent: Double {
    let e = expm1(2 * self)
    return e / (e + 2)
  }
}
