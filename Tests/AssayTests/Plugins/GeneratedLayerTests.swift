import CoreMLModel
import CustomLayers
import LayerTemplates
import TensorCore
import TestSupport
import Testing

@testable import Engine

/// The code generated for formula classes, built as a plug-in, against the engine.
@Suite struct GeneratedLayerTests {
  struct Trial {
    var layer: Custom
    var inputs: [[Int]]
    /// Maximum difference between the class and the kernel, which round differently.
    var ulps: Float = 2
  }

  private static let shape = [1, 1, 6, 9, 7]

  private static func formula(
    _ expression: String, className: String = "Formula", inputs: [[Int]] = [shape],
    _ change: (inout Custom) -> Void = { _ in }
  ) -> Trial {
    var layer = PluginLayerTests.custom(className)
    layer.parameters["expression"] = .string(expression)
    if inputs.count == 2 { layer.parameters["inputs"] = .string("front,back") }
    change(&layer)
    return Trial(layer: layer, inputs: inputs)
  }

  static let trials: [Trial] = [
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
    Trial(layer: PluginLayerTests.custom("HardSwish"), inputs: [shape]),
    Trial(layer: PluginLayerTests.custom("Mish"), inputs: [shape], ulps: 6),
    Trial(layer: PluginLayerTests.custom("GELU"), inputs: [shape]),
    Trial(layer: PluginLayerTests.custom("identity"), inputs: [shape]),
    Trial(layer: PluginLayerTests.custom("DeprocessStylizedImage"), inputs: [shape]),
    Trial(layer: PluginLayerTests.custom("L2Normalization"), inputs: [shape]),
    Trial(
      layer: PluginLayerTests.custom("L2Norm") {
        $0.parameters["axis"] = .int(-1)
        $0.blobs = [Weights([1, 2, 0.5, -1, 3, 0.1, 7])]
      }, inputs: [shape]),
  ]

  private static let library = Result<String, any Error> {
    let layers = trials.enumerated().map { index, trial in
      LayerClass.Layer(
        name: "layer\(index)", custom: trial.layer, inputShapes: trial.inputs, outputShapes: [nil])
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
    let inputs = trial.inputs.map { generator.tensor($0, in: -4...4) }
    let model = PluginLayerTests.model(trial.layer, inputs: trial.inputs)
    let found = try PluginLayerTests.predict(model, inputs, registry)[0]
    let wanted = try PluginLayerTests.predict(model, inputs, CustomLayerRegistry())[0]
    #expect(found.shape == wanted.shape)
    let wrong = zip(found.elements, wanted.elements).first {
      !($0 == $1 || abs($0 - $1) <= trial.ulps * $1.ulp)
    }
    let name = trial.layer.parameters["expression"].map { "\(String(describing: $0))" }
    #expect(wrong == nil, "\(name ?? trial.layer.className): \(wrong.map { "\($0)" } ?? "")")
  }
}
