import CoreMLModel
import CustomLayers
import LayerTemplates
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The generated code for formula classes and for built-in classes, built as a plug-in, compared
/// with the engine and with the frameworks.
@Suite struct GeneratedLayerTests {
  struct Trial {
    var layer: Custom
    var inputs: [[Int]]
    var outputCount = 1
    /// Inputs and outputs from the framework, if any.
    var example: FrameworkCase?
    /// The allowed difference between the class and the kernel, which round separately.
    var ulps: Float = 0
    var range: ClosedRange<Float> = -4...4

    var name: String {
      let expression = layer.parameters["expression"].map { "\(String(describing: $0))" }
      return expression ?? example.map { "\($0)" } ?? "\(layer.className) of \(inputs)"
    }
  }

  private static let shape = [1, 1, 6, 9, 7]

  private static func formula(
    _ expression: String, className: String = "Formula", inputs: [[Int]] = [shape],
    ulps: Float = 0, _ change: (inout Custom) -> Void = { _ in }
  ) -> Trial {
    var layer = PluginLayerTests.custom(className)
    layer.parameters["expression"] = .string(expression)
    if inputs.count == 2 { layer.parameters["inputs"] = .string("front,back") }
    change(&layer)
    return Trial(layer: layer, inputs: inputs, ulps: ulps)
  }

  private static let formulas: [Trial] = [
    formula("x * sigmoid(beta * x)") {
      $0.parameters["weights"] = .string("beta[1,1,6,1,1]")
      $0.blobs = [Weights([0.5, 1, -2, 0.01, 1.25, 3])]
    },
    formula("where(front > 0, front, back * 2)", inputs: [shape, [1, 1, 6, 1, 1]]),
    formula("sin(a * x) / a", className: "Snake") { $0.parameters["a"] = .double(0.5) },
    formula("x[..., 2:-2, ::2] * 3"),
    formula("x[:, :, ::-1, 1]"),
    formula("mean(x, axis=(3, 4), keepdims=True)"),
    formula("reduce_max(x, axis=2) + reduce_min(x, axis=2, keepdims=True)"),
    formula("sqrt(abs(x)) + floor(x) - round(x) // 2"),
    formula("clip(x, -1, 2) * (x >= 0.5)"),
    formula("exp(x) / 3 + 1 / (1 + x ** 2)"),
    formula("tanh(x) / (1 + x ** 2)"),
    // Each operation has to match the kernel's bits, since terms nearly cancel.
    formula("1 + tanh(x) - sigmoid(2 * x) * 2 + log(1 + exp(x)) - x"),
    formula("cos(x) ** 2 + sin(x) ** 2 - 1"),
    formula("abs(x) ** 1.7 - exp(1.7 * log(abs(x)))"),
    formula("sinh(x) + cosh(x) - exp(x) + atan(x) + expm1(x) - log1p(abs(x))"),
    formula("front ** 3 - (back % 1.5) // 0.5", inputs: [shape, shape]),
    formula("elu(x) + softsign(x) + swish(x) + relu(x) / rsqrt(abs(x))"),
  ]

  /// Functions that Accelerate lacks: the classes compute them in double precision, the engine's
  /// kernels within 2.5 ULP, as `UnaryTests` shows.
  private static let functions: [Trial] = [
    "softplus(x)", "erf(x)", "mish(x)", "gelu(x)", "gelu(x, approximate=True)",
  ].map {
    var trial = formula($0, inputs: [[1, 64, 61, 67]], ulps: 2)
    trial.range = -24...10
    return trial
  }

  private static func builtIn(
    _ className: String, _ shape: [Int] = shape, ulps: Float = 0,
    _ change: (inout Custom) -> Void = { _ in }
  ) -> Trial {
    Trial(layer: PluginLayerTests.custom(className, change), inputs: [shape], ulps: ulps)
  }

  /// Cases that the frameworks' cases omit: other names, half floats, ranks and long axes.
  private static let builtIns: [Trial] = [
    builtIn("RescaleOutputLambda", [2, 3, 5]), builtIn("DeprocessStylizedImage"),
    builtIn("ResCropBlockLambda", [2, 1, 3, 11, 8]), builtIn("identity", [7]),
    builtIn("SiLU", [5, 3]),
    builtIn("swish", [2, 1, 3, 4, 5]) {
      var half = Weights()
      half.float16Value = Bytes([0x3800, 0xbc00, 0x4000] as [UInt16])
      $0.blobs = [half]
    },
    builtIn("swish", [1, 1, 3, 4, 5]) { $0.blobs = [Weights([0.3, -1, 2])] },
    builtIn("HSwish", [3, 37]), builtIn("Mish", [501], ulps: 2),
    builtIn("Gelu", [3, 167], ulps: 2),
    builtIn("InstanceNorm", [3, 2, 71, 67]),
    builtIn("GroupNorm", [1, 64, 9, 7]) { $0.parameters["num_groups"] = .int(4) },
    builtIn("Softmax", [3, 1001]), builtIn("Softmax", [2, 5, 1, 3]),
    builtIn("L2Norm", [2, 3, 1027]) { $0.parameters["axis"] = .int(-1) },
    builtIn("L2Normalize", [1031], ulps: 0) { $0.blobs = [Weights([2.5])] },
    builtIn("ResizeNearestNeighbor", [3, 5, 7]) { $0.parameters["scale"] = .double(1.5) },
    builtIn("ResizeBilinear", [3, 5, 7]) {
      $0.parameters = ["scale_height": .double(0.5), "scale_width": .double(3)]
    },
    builtIn("PixelUnshuffle", [2, 3, 9, 6]) { $0.parameters["scale"] = .int(3) },
  ]

  private static let examples: [Trial] = ["tensorflow", "torch", "numpy"].flatMap(FrameworkCase.all)
    .map {
      example in
      Trial(
        layer: PluginLayerTests.custom(example.className) {
          $0.parameters = example.typedParameters.mapValues { $0 }
          $0.blobs = example.weights.map { Weights($0) }
        }, inputs: example.inputs.map(\.shape), outputCount: example.outputs.count,
        example: example,
        ulps: ["Mish", "GELU"].contains(example.className) ? 2 : 0)
    }

  static let trials = formulas + functions + builtIns + examples

  private static let library = Result<String, any Error> {
    let layers = trials.enumerated().map { index, trial in
      LayerClass.Layer(
        name: "layer\(index)", custom: trial.layer, inputShapes: trial.inputs,
        outputShapes: [[Int]?](repeating: nil, count: trial.outputCount))
    }
    let package = try PluginPackage(name: "Generated", classes: LayerClass.classes(of: layers))
    return try withTemporaryFolder { folder in
      try package.write(to: folder + "/p")
      let scratch = packageRoot + "/.build/plugins/Generated"
      try PluginFixture.run(
        "swift",
        ["build", "-c", "release", "--package-path", folder + "/p", "--scratch-path", scratch])
      #if os(Linux)
        return "\(scratch)/release/libGenerated.so"
      #else
        return "\(scratch)/release/libGenerated.dylib"
      #endif
    }
  }

  @Test(arguments: trials.indices)
  func agreesWithTheEngine(_ index: Int) throws {
    let trial = Self.trials[index]
    let registry = try PluginFixture.registry(Self.library.get())
    var generator = SplitMix64(seed: UInt64(index))
    let model = PluginLayerTests.model(
      trial.layer, inputs: trial.inputs, outputCount: trial.outputCount, isExact: true)
    func compare(_ inputs: [Tensor]) throws -> [Tensor] {
      let found = try PluginLayerTests.predict(model, inputs, registry)
      let wanted = try PluginLayerTests.predict(model, inputs, CustomLayerRegistry())
      #expect(found.map(\.shape) == wanted.map(\.shape))
      for (found, wanted) in zip(found, wanted) {
        let wrong = zip(found.elements, wanted.elements).max { distance($0) < distance($1) }
        #expect(
          wrong.map(distance) ?? 0 <= trial.ulps,
          "\(trial.name): \(wrong.map { "\($0), \(distance($0)) ULP" } ?? "")")
      }
      return found
    }
    _ = try compare(trial.inputs.map { generator.tensor($0, in: trial.range) })
    guard let example = trial.example else { return }
    let found = try compare(example.inputs.map { Tensor(shape: $0.shape, $0.values) })
    for (found, wanted) in zip(found, example.outputs) {
      #expect(found.shape == wanted.shape)
      let limit = 2e-6 * wanted.values.reduce(1) { max($0, abs($1)) }
      #expect(zip(found.elements, wanted.values).allSatisfy { abs($0 - $1) <= limit })
    }
  }

  private func distance(_ pair: (Float, Float)) -> Float {
    if pair.0 == pair.1 || pair.0.isNaN && pair.1.isNaN { return 0 }
    let distance = abs(pair.0 - pair.1) / pair.1.ulp
    return distance.isNaN ? .infinity : distance
  }

  /// No built-in class requires work by the author of the app.
  @Test func everyBuiltInClassIsComplete() throws {
    for type in builtInCustomLayers {
      for name in [type.className] + type.otherNames {
        let layer = LayerClass.Layer(
          name: "layer",
          custom: PluginLayerTests.custom(name) {
            if name == "Formula" { $0.parameters["expression"] = .string("x") }
          }, inputShapes: [nil], outputShapes: [nil])
        let package = try PluginPackage(name: "One", classes: LayerClass.classes(of: [layer]))
        let file = try #require(package.files.first { $0.path.hasPrefix("Sources/One/\(name).") })
        let text = String(decoding: file.bytes, as: UTF8.self)
        #expect(text.contains("@objc(\(name))") && text.contains("func evaluate"), "\(name)")
        #expect(!text.contains("TO DO") && !text.contains("unfinished"), "\(name)")
      }
    }
  }
}
