import ByteFormats
import CoreMLModel
import ModelPrediction
import TensorCore
import TestSupport
import Testing

@testable import Assay

/// Networks that compute in half precision, with sums in single and in half precision.
@Suite struct HalfPrecisionTests {
  private static func model(
    _ layers: [NeuralNetworkLayer], inputs: [Int], outputs: [Int]
  ) -> Model {
    .network(layers, inputs: [.array("x", inputs)], outputs: [.array("y", outputs)])
  }

  private static func dense(
    _ name: String, _ matrix: [Float], bias: [Float] = [], from input: String, to output: String,
    inputs: Int
  ) -> NeuralNetworkLayer {
    var dense = InnerProduct()
    dense.inputChannels = inputs
    dense.outputChannels = matrix.count / inputs
    dense.matrix = Weights(matrix)
    dense.hasBias = !bias.isEmpty
    if !bias.isEmpty { dense.bias = Weights(bias) }
    return NeuralNetworkLayer(name, dense, input: [input], output: [output])
  }

  private func output(
    _ model: Model, _ input: Tensor, _ precision: ComputePrecision, kept: Set<String> = []
  ) throws -> [Float] {
    var options = Predictor.Options()
    options.layout = .coreml
    options.precision = precision
    options.keptInFloat32 = kept
    let prediction = try Predictor(model: model, options: options).predict(["x": .array(input)])
    return Array(prediction.outputs[0].value.elements)
  }

  /// NumPy: `for a, b in zip(x, w): s = np.float16(np.float64(s) + np.float64(a) * np.float64(b))`
  /// with `s = np.float16(0.3)` yields 1.0390625; one rounding at the end yields 1.0400390625.
  @Test func sumsOfProducts() throws {
    let x: [Float] = [
      0.50048828125, 1.5888671875, 1.1025390625, -1.099609375, -0.79931640625, 1.494140625,
      -1.978515625, 1.28515625, 1.1884765625, -0.1282958984375, -0.7880859375, -0.88623046875,
    ]
    let w: [Float] = [
      -0.98046875, -0.2197265625, 0.0181884765625, 0.2139892578125, 1.982421875, 1.1708984375,
      0.48876953125, 1.9560546875, -1.138671875, -1.359375, 0.4501953125, -1.82421875,
    ]
    var convolution = Convolution()
    convolution.outputChannels = 1
    convolution.kernelChannels = 12
    convolution.kernelSize = [1, 1]
    convolution.hasBias = true
    convolution.kernel = Weights(w)
    convolution.bias = Weights([0.3])
    convolution.padding = .valid(ValidPadding())
    let models = [
      (
        Self.model(
          [Self.dense("d", w, bias: [0.3], from: "x", to: "y", inputs: 12)], inputs: [12],
          outputs: [1]), [12]
      ),
      (
        Self.model(
          [NeuralNetworkLayer("c", convolution, input: ["x"], output: ["y"])], inputs: [12, 1, 1],
          outputs: [1, 1, 1]), [12, 1, 1]
      ),
    ]
    for (model, shape) in models {
      let input = Tensor(shape: shape, x)
      #expect(try output(model, input, .float16) == [1.0400390625])
      #expect(try output(model, input, .float16Sums) == [1.0390625])
      #expect(try output(model, input, .float16Sums, kept: ["d", "c"]) != [1.0390625])
    }
  }

  /// 2048 · 0.1 − 204.75, where the weight is a code; the nearest half-precision value to 0.1 is
  /// 0.0999755859375, or 204.75 / 2048.
  @Test(arguments: [Quantization.Kind.linear(scale: [0.1], bias: []), .lookupTable([0, 0.1])])
  func weightsOfCodes(_ kind: Quantization.Kind) throws {
    var matrix = Weights()
    matrix.rawValue = Bytes([0b1000_0000] as [UInt8])
    matrix.quantization = Quantization(bits: 1, kind)
    var dense = InnerProduct()
    (dense.inputChannels, dense.outputChannels, dense.matrix) = (1, 1, matrix)
    (dense.hasBias, dense.bias) = (true, Weights([-204.75]))
    let model = Self.model(
      [NeuralNetworkLayer("d", dense, input: ["x"], output: ["y"])], inputs: [1], outputs: [1])
    let input = Tensor(shape: [1], [2048])
    #expect(try abs(output(model, input, .float32)[0] - 0.05) < 1e-4)
    #expect(try output(model, input, .float16) == [0])
    #expect(try output(model, input, .float16Sums) == [0])
  }

  /// 2048 + 1 is halfway between two half-precision values and rounds to the even one, 2048, at
  /// which a sum of ones stops. 2048 / 3000 = 0.68267, and the nearest value is 0.6826171875.
  @Test func sumsOfElements() throws {
    var pooling = Pooling()
    pooling.type = .average
    pooling.globalPooling = true
    pooling.padding = .valid(ValidPadding())
    let mean = Self.model(
      [NeuralNetworkLayer("p", pooling, input: ["x"], output: ["y"])], inputs: [1, 50, 60],
      outputs: [1, 1, 1])
    var reduce = Reduce()
    reduce.mode = .sum
    reduce.axis = .hw
    let sum = Self.model(
      [NeuralNetworkLayer("r", reduce, input: ["x"], output: ["y"])], inputs: [1, 50, 60],
      outputs: [1, 1, 1])
    let ones = Tensor(shape: [1, 50, 60], [Float](repeating: 1, count: 3000))
    #expect(try output(mean, ones, .float16) == [1])
    #expect(try output(mean, ones, .float16Sums) == [0.6826171875])
    #expect(try output(sum, ones, .float16) == [3000])
    #expect(try output(sum, ones, .float16Sums) == [2048])
  }

  @Test func halvesOfDoubles() {
    // The nearest half-precision values, ties to even, by definition: 11 bits down to 2⁻²⁴.
    let values: [(Double, Double)] = [
      (1 + 0x1p-11, 1), (1 + 3 * 0x1p-11, 1 + 0x1p-9), (1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10),
      (65519.9, 65504), (65520, .infinity), (-70000, -.infinity), (0x1p-25, 0),
      (0x1.8p-24, 0x1p-23), (0x1.8p-25, 0x1p-24), (-0x1p-24, -0x1p-24), (0.1, 0.0999755859375),
    ]
    for (value, half) in values { #expect(Half.rounded(value) == half, "\(value)") }
    #expect(Half.rounded(Double.nan).isNaN)
  }

  /// Masked layers over sequences of any length fit into half precision, as does each sum.
  @Test(arguments: ["lstm", "gru", "simplernn"])
  func maskedSequencesOfAnyLength(_ name: String) throws {
    let path = Fixtures("keras/layers/tf2").path("any_length_mask_\(name)_7")
    let model = try ModelSource(contentsOf: path + ".h5").convert(ConversionOptions()).model
    var half = ProgramOptions()
    half.precision = .float16
    for converted in [try model.withHalfPrecisionWeights(), try model.mlProgram(half)] {
      for precision in [ComputePrecision.float32, .float16Sums] {
        var options = Comparison.Options()
        options.precision = precision
        options.tolerances = Tolerances(Tolerance.Profile.fp16.tolerance)
        let comparison = try Comparison.compare(
          converted, inputs: [path + ".inputs.npz"], expected: path + ".expected.npz",
          options: options)
        #expect(comparison.matches, "\(precision)")
      }
    }
  }

  /// 400 · 200 exceeds the largest half-precision value, 65504; the layers from there to the next
  /// division have to stay in single precision.
  private static let overflowing = model(
    [
      dense("small", [1, 0, 0, 1], from: "x", to: "a", inputs: 2),
      dense("large", [200, 0, 0, 200], from: "a", to: "b", inputs: 2),
      NeuralNetworkLayer("positive", Activation(.relu), input: ["b"], output: ["c"]),
      dense("back", [0.005, 0, 0, 0.0025], from: "c", to: "d", inputs: 2),
      dense("last", [0.5, 0.5], from: "d", to: "y", inputs: 2),
    ], inputs: [2], outputs: [1])

  @Test func theFewestLayersInSinglePrecision() throws {
    try withTemporaryFolder { folder in
      let input = folder + "/x.npy"
      try ArraySet([NamedArray(Tensor(shape: [2], [400, 300]), name: "x", type: .float32)])
        .write(to: input)
      var options = Comparison.Options()
      options.precision = .float16
      options.tolerances = Tolerances(Tolerance.Profile.fp16.tolerance)
      let study = try HalfPrecisionStudy(Self.overflowing, inputs: [input], options: options)
      #expect(!study.agrees)
      #expect(study.kept == ["large", "positive", "back"])
      #expect(study.isMinimal)
      // The infinite value of 'large' becomes 0.005 · ∞ and 0 · ∞ in 'back'.
      let counts = study.layers.filter { $0.overflowCount > 0 }.map { ($0.name, $0.overflowCount) }
      #expect(Dictionary(uniqueKeysWithValues: counts) == ["large": 1, "positive": 1, "back": 2])
      options.keptInFloat32 = Set(study.kept)
      #expect(try HalfPrecisionStudy(Self.overflowing, inputs: [input], options: options).agrees)

      let path = folder + "/m.mlmodel"
      try Self.overflowing.write(to: path)
      let kept = ["large", "positive", "back"].flatMap { ["--keep-float32", $0] }
      let half = ["--precision", "float16"]
      let found = try Command.run(["diff", path, input] + half)
      #expect(found.code == 1, "\(found.errors)")
      #expect(found.output.contains((half + kept).joined(separator: " ")), "\(found.output)")
      let mended = try Command.run(["diff", path, input] + half + kept)
      #expect(mended.code == 0, "\(mended.output)\(mended.errors)")
      // The program made with these options computes the same, by the types of its values.
      for (options, code) in [([], 1), (kept, 0)] as [([String], Int32)] {
        let program = folder + "/p\(code).mlpackage"
        let made = try Command.run(["upgrade", path, "-o", program] + half + options)
        #expect(made.code == 0, "\(made.errors)")
        let compared = try Command.run(["diff", program, input] + half)
        #expect(compared.code == code, "\(compared.output)\(compared.errors)")
      }
      let json = try Command.run(["diff", path, input, "--json"] + half)
      #expect(json.output.contains("\"keepFloat32\": [\"large\", \"positive\", \"back\"]"))
      for words in [["run", path, input], ["upgrade", path, "-o", folder + "/x.mlpackage"]] {
        let unknown = try Command.run(words + ["--keep-float32", "x"] + half)
        #expect(unknown.code == 2 && unknown.errors.contains("no layer 'x'"), "\(unknown.errors)")
        #expect(try Command.run(words + ["--keep-float32", "large"]).code == 64)
      }
    }
  }

  /// Of masked rows, −1e9 on all keys is not −∞ in a program of half precision, whose softmax would
  /// not be a number. The values are Keras's.
  @Test func aMaskedRowOfAttentionIsANumber() throws {
    let network = Fixtures("keras/layers/k3").path("multiheadattention_masked")
    try withTemporaryFolder { folder in
      let program = folder + "/m.mlpackage"
      let made = try Command.run(
        "convert", network + ".keras", "-o", program, "--precision", "float16")
      #expect(made.code == 0, "\(made.errors)")
      let result = try Command.run(
        "diff", program, network + ".inputs.npz", "--expected", network + ".expected.npz",
        "--rtol", "0", "--atol", "2e-3")
      #expect(result.code == 0, "\(result.output)\(result.errors)")
      #expect(!result.errors.contains("infinite"), "\(result.errors)")
    }
  }
}
