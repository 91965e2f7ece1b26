import CoreMLModel
import CustomLayers
import Foundation
import TensorCore
import TestSupport
import Testing

@testable import Engine
@testable import LayerTemplates

#if os(Linux)
  /// The generated classes with Metal kernels for apps, compared with the engine: the classes are
  /// compiled with a stand-in for Apple's Metal, which records the encoded commands, and the
  /// kernels as C++ with a stand-in for Metal's library.
  @Suite struct MetalKernelTests {
    struct Trial {
      var layer: Custom
      var inputs: [[Int]]
    }

    private static func formula(
      _ text: String, _ inputs: [[Int]], className: String,
      _ change: (inout Custom) -> Void = { _ in }
    ) -> Trial {
      let layer = PluginLayerTests.custom(className) {
        $0.parameters["expression"] = .string(text)
        if inputs.count == 2 { $0.parameters["inputs"] = .string("front,back") }
        change(&$0)
      }
      return Trial(layer: layer, inputs: inputs)
    }

    private static func builtIn(
      _ className: String, _ shape: [Int], _ change: (inout Custom) -> Void = { _ in }
    ) -> Trial {
      Trial(layer: PluginLayerTests.custom(className, change), inputs: [shape])
    }

    private static let betas: [Float] = [0.5, 1, -2, 0.01, 1.25, 3]

    private static let formulas: [Trial] = [
      formula("x * beta + gamma", [[2, 6, 5, 7]], className: "Affine") {
        let plane = (0..<35).map { Float($0) / 8 - 2 }
        $0.parameters["weights"] = .string("beta[1,6,1,1],gamma[5,7]")
        $0.blobs = [Weights(betas), Weights(plane)]
      },
      formula("sin(a * x) / a", [[1, 5, 3, 4]], className: "Snake") {
        $0.parameters["a"] = .double(0.5)
      },
      formula(
        "where(front > 0, front, back * 2)", [[1, 6, 9, 7], [1, 6, 1, 1]], className: "Choice"),
      formula(
        "front ** 3 - abs(back) ** 0.5", [[1, 3, 4, 4], [1, 3, 4, 1]], className: "Powers"),
      formula(
        "(x % 2) // 0.5 + elu(x) + softplus(x) - sigmoid(x) + erf(x)", [[1, 3, 8, 8]],
        className: "Functions"),
    ]

    /// Cases that the frameworks' cases omit.
    private static let builtIns: [Trial] = [
      builtIn("Swish", [2, 6, 5, 7]) { $0.blobs = [Weights(betas)] },
      builtIn("SiLU", [1, 3, 4, 9]) { $0.parameters["beta"] = .double(1.5) },
      builtIn("RescaleOutputLambda", [1, 3, 5, 4]), builtIn("identity", [2, 5, 3, 3]),
      builtIn("ResCropBlockLambda", [2, 5, 9, 11]),
      builtIn("SpaceToDepth", [2, 3, 6, 9]) { $0.parameters["block_size"] = .int(3) },
      builtIn("PixelShuffle", [2, 27, 2, 3]) { $0.parameters["block_size"] = .int(3) },
      builtIn("GroupNorm", [2, 20, 9, 7]) {
        $0.parameters["num_groups"] = .int(4)
        $0.blobs = [
          Weights((0..<20).map { Float($0) / 4 - 2 }), Weights((0..<20).map { Float($0) }),
        ]
      },
      builtIn("InstanceNorm", [1, 3, 31, 17]),
      builtIn("L2Norm", [3, 5, 4, 7]) { $0.parameters["axis"] = .int(0) },
      builtIn("L2Normalize", [2, 9, 4, 3]) {
        $0.parameters["axis"] = .int(2)
        $0.blobs = [Weights([1, -2, 0.5, 3])]
      },
      builtIn("Softmax", [2, 5, 1, 3]),
      builtIn("Softmax", [5, 6, 4, 3]) { $0.parameters["axis"] = .int(0) },
    ]

    /// Classes that run only on the CPU, as their files say.
    private static let onCPU: Set = [
      "DeformableConvolution", "dneprDroid_deform_conv2d", "dneprDroid_lstsq", "ROIPooling",
      "ROIAlign", "PSROIPooling", "Proposal", "addition", "reshape",
    ]

    private static let examples: [Trial] = ["tensorflow", "torch"].flatMap(FrameworkCase.all)
      .filter { $0.inputs[0].shape.count > 3 && !onCPU.contains($0.className) }.map { example in
        Trial(
          layer: PluginLayerTests.custom(example.className) {
            $0.parameters = example.typedParameters.mapValues { $0 }
            $0.blobs = example.weights.map { Weights($0) }
          }, inputs: example.inputs.map(\.shape))
      }

    private static func layer(_ trial: Trial) -> LayerClass.Layer {
      LayerClass.Layer(
        name: "layer", custom: trial.layer, inputShapes: trial.inputs, outputShapes: [nil])
    }

    @Test func agreesWithTheEngine() throws {
      let trials = Self.formulas + Self.builtIns + Self.examples
      let classes = LayerClass.classes(of: trials.map(Self.layer))
      let stubs = AppStubs(classes)
      let files = stubs.files
      #expect(files.contains { $0.path == "LayerKernel.swift" })
      try withTemporaryFolder { folder in
        let calls = try Self.encode(trials, classes, stubs, in: folder)
        var main = "#include <metal_stdlib>\n#include <cstdio>\nusing namespace metal;\n"
        for file in files where file.path.hasSuffix(".metal") {
          let text = String(decoding: file.bytes, as: UTF8.self)
          // Files of an app do not share their functions.
          let space = String(file.path.dropLast(6))
          main += "namespace in_\(space) {\n\(text)}\nusing in_\(space)::\(space);\n"
        }
        main += "int main() {\n"
        var answers: [Tensor] = []
        for (number, trial) in trials.enumerated() {
          var generator = SplitMix64(seed: UInt64(number))
          let inputs = trial.inputs.enumerated().map { index, shape in
            // Coordinates of a grid cover about the whole image.
            let range: ClosedRange<Float> = index == 1 ? -1.2...1.2 : -4...4
            let values = generator.tensor(shape, in: range).elements
            return Tensor(shape: shape, values.map(Half.rounded))
          }
          let model = PluginLayerTests.model(trial.layer, inputs: trial.inputs, isExact: true)
          let answer = try PluginLayerTests.predict(model, inputs, CustomLayerRegistry())[0]
          answers.append(answer)
          main += Self.call(calls[number], inputs, answer.shape)
        }
        try writeFile(Array((main + "}\n").utf8), to: folder + "/main.cpp")
        try PluginFixture.run(
          "clang++",
          [
            "-std=c++20", "-pthread", "-Wall", "-Werror", "-Wno-unknown-attributes",
            "-Wno-unused-function", "-I\(PluginFixture.folder)/metal", folder + "/main.cpp", "-o",
            folder + "/main",
          ])
        let result = try Program(folder + "/main").run([])
        let values = result.output.split(separator: "\n").compactMap { Float($0) }
        #expect(values.count == answers.reduce(0) { $0 + $1.elements.count })
        var rest = values[...]
        for (trial, answer) in zip(trials, answers) {
          // The result is a half float.
          let isRight = answer.elements.allSatisfy { wanted in
            abs((rest.popFirst() ?? .nan) - wanted) <= max(1, abs(wanted)) * 0x1p-10
          }
          #expect(isRight, "\(trial.layer.className) \(trial.layer.parameters)")
        }
      }
    }

    /// Each built-in class has a kernel, or a reason why it has none.
    @Test func everyBuiltInClassHasAKernelOrSaysWhyNot() throws {
      for type in builtInCustomLayers where type.className != FormulaLayer.className {
        let trial = Self.builtIn(type.className, [1, 4, 4, 4])
        let files = AppStubs(LayerClass.classes(of: [Self.layer(trial)])).files
        let swift = try #require(files.first { $0.path.hasSuffix(".swift") }).bytes
        let text = String(decoding: swift, as: UTF8.self)
        let hasKernel = files.contains { $0.path.hasSuffix(".metal") }
        #expect(hasKernel != Self.onCPU.contains(type.className), "\(type.className)")
        #expect(text.contains("func encode(") == hasKernel, "\(type.className)")
        #expect(text.contains("/// Core ML runs it on the CPU: ") != hasKernel, "\(type.className)")
      }
    }

    // MARK: Commands that the classes encode

    /// Builds the classes, and returns the commands that each of them encodes.
    private static func encode(
      _ trials: [Trial], _ classes: [LayerClass], _ stubs: AppStubs, in folder: String
    ) throws -> [String] {
      let package = folder + "/package"
      try PluginPackage(name: "Kernels", classes: classes).write(to: package)
      try stubs.write(to: package + "/Classes")
      try FileManager.default.createDirectory(
        atPath: package + "/Metal", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: PluginFixture.folder + "/metal/Metal.swift", toPath: package + "/Metal/Metal.swift")
      try writeFile(Array(manifest.utf8), to: package + "/Package.swift")
      var main = "import CoreML\nimport Foundation\nimport Metal\n"
      for trial in trials {
        let name = classes.first { $0.name == trial.layer.className }?.typeName ?? "?"
        main += try self.main(trial, name)
      }
      try writeFile(Array(main.utf8), to: package + "/Classes/main.swift")
      let scratch = packageRoot + "/.build/plugins/Kernels"
      try PluginFixture.run(
        "swift", ["build", "--package-path", package, "--scratch-path", scratch])
      let result = try Program(scratch + "/debug/Kernels").run([])
      let calls = result.output.split(separator: "---\n", omittingEmptySubsequences: true)
      try #require(calls.count == trials.count, "\(result.output.suffix(300)) \(result.errors)")
      return calls.map(String.init)
    }

    private static let manifest = """
      // swift-tools-version: 6.0
      import PackageDescription

      let package = Package(
        name: "Kernels",
        targets: [
          .target(name: "CAssayPlugin", path: "Support/CAssayPlugin"),
          .target(name: "CoreML", path: "Support/CoreML"),
          .systemLibrary(name: "Accelerate", path: "Support/Accelerate"),
          .target(name: "Metal", path: "Metal"),
          .executableTarget(
            name: "Kernels", dependencies: ["CAssayPlugin", "CoreML", "Accelerate", "Metal"],
            path: "Classes"),
        ], swiftLanguageModes: [.v5])

      """

    private static func main(_ trial: Trial, _ name: String) throws -> String {
      var parameters = ["\"engineName\": \"\(trial.layer.className)\""]
      for (key, value) in trial.layer.parameters {
        guard let value else { continue }
        let text =
          if case .string(let text) = value { "\"\(text)\"" } else { "NSNumber(value: \(value))" }
        parameters.append("\"\(key)\": \(text)")
      }
      let weights = try trial.layer.blobs.map { blob in
        let values = try blob.floatValue.array().map { "\($0)" }
        return "([\(values.joined(separator: ", "))] as [Float]).withUnsafeBytes { Data($0) }"
      }
      return """
        do {
          let layer = try \(name)(parameters: [\(parameters.joined(separator: ", "))])
          try layer.setWeightData([\(weights.joined(separator: ", "))])
          let inputs: [[Int]] = \(trial.inputs)
          let shapes = try layer.outputShapes(
            forInputShapes: inputs.map { $0.map { NSNumber(value: $0) } })
          try layer.encode(
            commandBuffer: Recorder(), inputs: inputs.map { Picture($0) },
            outputs: shapes.map { Picture($0.map { $0.intValue }) })
          print("---")
        }

        """
    }

    /// Code that runs a recorded command and prints the output.
    private static func call(_ recorded: String, _ inputs: [Tensor], _ output: [Int]) -> String {
      func sizes(_ shape: [Int]) -> String {
        let items: Int = shape.dropLast(3).reduce(1, *)
        return ([items] + shape.suffix(3)).map { "\($0)" }.joined(separator: ", ")
      }
      var text = "{\n"
      for (index, input) in inputs.enumerated() {
        let values = input.elements.map { "\($0)f" }.joined(separator: ", ")
        text += "static const float v\(index)[] = {\(values)};\n"
        text += "Picture in\(index)(\(sizes(input.shape)), v\(index));\n"
      }
      return text + """
        Picture out(\(sizes(output)), nullptr);
        \(recorded)
        for (uint i = 0; i < \(output.reduce(1, *)); i++) printf("%.9g\\n", (float)out.element(i));
        }

        """
    }
  }
#endif
