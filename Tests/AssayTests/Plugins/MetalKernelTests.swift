import CoreMLModel
import LayerTemplates
import TensorCore
import TestSupport
import Testing

@testable import CustomLayers
@testable import Engine

/// The Metal kernels that are written for apps, compiled as C++ with a stand-in for Metal's library,
/// beside the engine.
@Suite struct MetalKernelTests {
  struct Trial {
    var layer: Custom
    /// Of images, channels, rows and columns.
    var inputs: [[Int]]
    var weights: [StretchedWeight] = []
  }

  private static func formula(
    _ text: String, _ inputs: [[Int]], _ weights: [StretchedWeight] = [],
    _ change: (inout Custom) -> Void = { _ in }
  ) -> Trial {
    let layer = PluginLayerTests.custom("Snake") {
      $0.parameters["expression"] = .string(text)
      if inputs.count == 2 { $0.parameters["inputs"] = .string("front,back") }
      change(&$0)
    }
    return Trial(layer: layer, inputs: inputs, weights: weights)
  }

  private static func trials() -> [Trial] {
    let betas: [Float] = [0.5, 1, -2, 0.01, 1.25, 3]
    let plane = (0..<35).map { Float($0) / 8 - 2 }
    return [
      Trial(
        layer: PluginLayerTests.custom("Swish") { $0.blobs = [Weights(betas)] },
        inputs: [[2, 6, 5, 7]], weights: [StretchedWeight(betas)]),
      Trial(
        layer: PluginLayerTests.custom("SiLU") { $0.parameters["beta"] = .double(1.5) },
        inputs: [[1, 3, 4, 9]], weights: [StretchedWeight([1.5])]),
      Trial(
        layer: PluginLayerTests.custom("GELU"), inputs: [[1, 4, 9, 7]],
        weights: [StretchedWeight([0])]),
      Trial(
        layer: PluginLayerTests.custom("GELU") { $0.parameters["approximate"] = .bool(true) },
        inputs: [[1, 4, 9, 7]], weights: [StretchedWeight([1])]),
      Trial(layer: PluginLayerTests.custom("Mish"), inputs: [[1, 9, 5, 3]]),
      Trial(layer: PluginLayerTests.custom("HardSwish"), inputs: [[1, 2, 5, 3]]),
      formula(
        "x * beta + gamma", [[2, 6, 5, 7]],
        [StretchedWeight(betas, shape: [1, 6, 1, 1]), StretchedWeight(plane, shape: [5, 7])]
      ) {
        $0.parameters["weights"] = .string("beta[1,6,1,1],gamma[5,7]")
        $0.blobs = [Weights(betas), Weights(plane)]
      },
      formula("sin(a * x) / a", [[1, 5, 3, 4]], [StretchedWeight([0.5])]) {
        $0.parameters["a"] = .double(0.5)
      },
      formula("where(front > 0, front, back * 2)", [[1, 6, 9, 7], [1, 6, 1, 1]]),
      formula("front ** 3 - abs(back) ** 0.5", [[1, 3, 4, 4], [1, 3, 4, 1]]),
      formula("(x % 2) // 0.5 + elu(x) + softplus(x) - sigmoid(x) + erf(x)", [[1, 3, 8, 8]]),
    ]
  }

  @Test func agreesWithTheEngine() throws {
    let trials = Self.trials()
    var main = "#include <metal_stdlib>\n#include <cstdio>\nusing namespace metal;\n"
    var calls = ""
    var answers: [Tensor] = []
    try withTemporaryFolder { folder in
      for (number, trial) in trials.enumerated() {
        var generator = SplitMix64(seed: UInt64(number))
        let inputs = trial.inputs.map { shape in
          let values = generator.tensor(shape, in: -4...4).elements
          return Tensor(shape: shape, values.map { Half.float(Half.bits($0)) })
        }
        let model = PluginLayerTests.model(trial.layer, inputs: trial.inputs, isExact: true)
        answers.append(try PluginLayerTests.predict(model, inputs, CustomLayerRegistry())[0])
        let layer = LayerClass.Layer(
          name: "layer", custom: trial.layer, inputShapes: trial.inputs, outputShapes: [nil])
        let files = AppStubs(LayerClass.classes(of: [layer])).files
        let text = try #require(files.first { $0.path.hasSuffix(".metal") }).bytes
        let swift = try #require(files.first { $0.path == "\(trial.layer.className).swift" }).bytes
        #expect(String(decoding: swift, as: UTF8.self).contains("kernel.encode("))
        #expect(files.contains { $0.path == "LayerKernel.swift" })
        main += "namespace k\(number) {\n\(String(decoding: text, as: UTF8.self))}\n"
        calls += Self.call(trial, number, inputs)
      }
      try writeFile(Array((main + "int main() {\n\(calls)}\n").utf8), to: folder + "/main.cpp")
      try PluginFixture.run(
        "clang++",
        [
          "-std=c++17", "-Wall", "-Werror", "-Wno-unknown-attributes", "-Wno-unused-function",
          "-I\(PluginFixture.folder)/metal", folder + "/main.cpp", "-o", folder + "/main",
        ])
      let result = try Program(folder + "/main").run([])
      let values = result.output.split(separator: "\n").compactMap { Float($0) }
      #expect(values.count == answers.reduce(0) { $0 + $1.elements.count })
      var rest = values[...]
      for (trial, answer) in zip(trials, answers) {
        for wanted in answer.elements {
          let found = rest.popFirst() ?? .nan
          let limit = max(1, abs(wanted)) * 0x1p-10
          #expect(
            abs(found - wanted) <= limit, "\(trial.layer.className) \(trial.layer.parameters)")
        }
      }
    }
  }

  /// Runs a kernel for every pixel and prints the output.
  private static func call(_ trial: Trial, _ number: Int, _ inputs: [Tensor]) -> String {
    let output = trial.inputs[0]
    let isArray = output[0] * output[1] > 4
    let texture = isArray ? "texture2d_array" : "texture2d"
    func list(_ values: [Float]) -> String { values.map { "\($0)f" }.joined(separator: ", ") }
    func sizes(_ shape: [Int]) -> String { shape.map(String.init).joined(separator: ", ") }
    var text = "{\n"
    var arguments: [String] = []
    for (index, input) in inputs.enumerated() {
      text += "static const float v\(index)[] = {\(list(input.elements))};\n"
      text += "Picture p\(index)(\(sizes(input.shape)), v\(index));\n"
      arguments.append("p\(index).as<\(texture)<half, access::read>>()")
    }
    text += "Picture out(\(sizes(output)), nullptr);\n"
    arguments.append("out.as<\(texture)<half, access::write>>()")
    for (index, weight) in trial.weights.enumerated() {
      let values = weight.values.map { "float4(\(list([$0.x, $0.y, $0.z, $0.w])))" }
      text += "const float4 w\(index)[] = {\(values.joined(separator: ", "))};\n"
      text += "const uint3 s\(index)(\(weight.size.x), \(weight.size.y), \(weight.size.z));\n"
      arguments += ["w\(index)", "s\(index)"]
    }
    let name = "k\(number)::\(trial.layer.className)\(isArray ? "_array" : "")"
    // Threads beyond the border, as the groups of a grid have them, write nothing.
    return text + """
      for (uint z = 0; z < out.slices(); z++)
        for (uint y = 0; y <= out.height; y++)
          for (uint x = 0; x <= out.width; x++)
            \(name)(\(arguments.joined(separator: ", ")), uint3(x, y, z));
      for (uint i = 0; i < \(output.reduce(1, *)); i++) printf("%.9g\\n", (float)out.element(i));
      }

      """
  }
}
