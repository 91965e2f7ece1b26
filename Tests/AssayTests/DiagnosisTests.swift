import ByteFormats
import CoreMLModel
import LibC
import TensorCore
import TestSupport
import Testing

@testable import Assay

/// `diff --diagnose` on networks that were damaged in one known way; the expected values are the
/// framework's.
@Suite struct DiagnosisTests {
  private static let layers = Fixtures("keras/layers/tf2")
  private static let demo = Fixtures("demo")

  /// Converts the network `name`, damages it, and diagnoses the difference.
  private func diagnosis(
    _ name: String, _ damage: (inout Model) throws -> Void = { _ in },
    expected: (ArraySet) -> ArraySet = { $0 }
  ) throws -> Diagnosis {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run("convert", Self.layers.path(name + ".h5"), "-o", model)
      #expect(converted.code == 0, "\(converted.errors)")
      var document = try Model(contentsOf: model)
      try damage(&document)
      let file = folder + "/expected.npz"
      try expected(ArraySet.read(Self.layers.path(name + ".expected.npz"))).write(to: file)
      return try Diagnosis(
        document, inputs: [Self.layers.path(name + ".inputs.npz")], expected: file,
        options: Comparison.Options())
    }
  }

  private func change<Layer: LayerParameters>(
    _ model: inout Model, _ type: Layer.Type, _ body: (inout Layer) -> Void
  ) throws {
    var network = try #require(model.neuralNetwork)
    var isChanged = false
    for index in network.layers.indices {
      guard var layer = network.layers[index].parameters as? Layer else { continue }
      body(&layer)
      network.layers[index].parameters = layer
      isChanged = true
    }
    #expect(isChanged, "the network has no \(type)")
    model.neuralNetwork = network
  }

  private func first(_ diagnosis: Diagnosis) -> String {
    diagnosis.explanations.first?.causes.map(\.summary).joined(separator: "; ") ?? "nothing"
  }

  @Test func gatesInAnotherOrder() throws {
    let lstm = try diagnosis("any_length_lstm_sequences") { model in
      try change(&model, UniDirectionalLSTM.self) {
        var weights = $0.weightParams ?? LSTMWeights()
        (weights.forgetGate, weights.blockInput) = (weights.blockInput, weights.forgetGate)
        $0.weightParams = weights
      }
    }
    #expect(first(lstm) == "the gates of LSTMs are in the order input, cell, forget, output")
    #expect((lstm.explanations.first?.error ?? 1) < 1e-5 && lstm.error > 1e-3)
  }

  @Test func forgetBiasThatIsMissing() throws {
    let lstm = try diagnosis("any_length_lstm_sequences") { model in
      try change(&model, UniDirectionalLSTM.self) { layer in
        let units = layer.outputVectorSize
        let bias = try? layer.weightParams?.forgetGate.bias?.values(shape: [units]).array()
        layer.weightParams?.forgetGate.bias = bias.map { Weights($0.map { $0 - 1 }) }
      }
    }
    #expect(first(lstm) == "1 is added to the forget gates' bias")
    #expect(
      lstm.explanations.first?.causes.first?.remedy
        == "edit the model with metadata assay.forgetBias=add")
  }

  @Test func epsilonAndStatistics() throws {
    let epsilon = try diagnosis("batch_normalization_1") { model in
      try change(&model, Batchnorm.self) { $0.epsilon = 0.3 }
    }
    #expect(first(epsilon).hasPrefix("the epsilon of normalizations is 1e-05"))
    let swapped = try diagnosis("batch_normalization_1") { model in
      try change(&model, Batchnorm.self) { swap(&$0.mean, &$0.variance) }
    }
    #expect(first(swapped) == "mean and variance of batch normalizations are swapped")
  }

  @Test func expectedStepsInReverseOrder() throws {
    let reversed = try diagnosis(
      "any_length_gru_sequences",
      expected: { set in
        var set = set
        for index in set.arrays.indices {
          let tensor = set.arrays[index].tensor
          let (steps, units) = (tensor.shape[tensor.shape.count - 2], tensor.shape.last ?? 1)
          set.arrays[index].tensor = Tensor(
            shape: tensor.shape,
            tensor.elements.indices.map { place in
              let step = place / units % steps
              return tensor.elements[place + (steps - 1 - 2 * step) * units]
            })
        }
        return set
      })
    #expect(first(reversed) == "the time steps are in reverse order")
  }

  /// A cause applies to the differing outputs, and does not change the others.
  @Test func oneOfTwoOutputs() throws {
    let logistic = try diagnosis(
      "bidirectional_gru_none_last",
      expected: { set in
        var set = set
        let tensor = set.arrays[1].tensor
        let values = tensor.elements.map { Float(1 / (1 + exp(-Double($0)))) }
        set.arrays[1].tensor = Tensor(shape: tensor.shape, values)
        return set
      })
    #expect(first(logistic) == "the model lacks the final sigmoid")
    let swapped = try diagnosis(
      "bidirectional_gru_none_last",
      expected: { set in
        var set = set
        (set.arrays[0].tensor, set.arrays[1].tensor) = (set.arrays[1].tensor, set.arrays[0].tensor)
        return set
      })
    #expect(
      first(swapped)
        == "the expected values of 'bidirectional' are those of output 'bidirectional_1', "
        + "the expected values of 'bidirectional_1' are those of output 'bidirectional'")
  }

  /// A difference without a usual cause is not attributed to any.
  @Test func noise() throws {
    var generator = SplitMix64(seed: 3)
    let noise = try diagnosis(
      "any_length_gru_sequences",
      expected: { set in
        var set = set
        for index in set.arrays.indices {
          let tensor = set.arrays[index].tensor
          set.arrays[index].tensor = Tensor(
            shape: tensor.shape,
            tensor.elements.map { $0 + Float.random(in: -0.1...0.1, using: &generator) })
        }
        return set
      })
    #expect(noise.explanations.isEmpty && !noise.excluded.isEmpty && noise.untried == 0)
  }

  /// The pixels in Keras were in RGB order, which two changes explain equally well.
  @Test func aCauseIsListedOnce() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run(
        "convert", Self.demo.path("swish.h5"), "-o", model, "--image-input", "input1",
        "--preset", "keras-tf", "--color", "bgr")
      let result = try Command.run(
        "diff", model, Self.demo.path("picture.png"), "--expected", Self.demo.path("expected.npz"))
      #expect(!result.output.contains("each of these"), "\(result.output)")
      #expect(
        result.output.hasSuffix("\nremedy: convert or edit with --color rgb\n"), "\(result.output)")
    }
  }

  /// The pixels in Keras's network are in −1…1; the model receives them in 0…255.
  @Test func pixelsWithoutTheirScale() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      try Command.run(
        "convert", Self.demo.path("swish.h5"), "-o", model, "--image-input", "image",
        "--input-name", "image", "--output-name", "color", "--color", "bgr")
      let words = [
        "diff", model, Self.demo.path("picture.png"), "--expected", Self.demo.path("expected.npz"),
      ]
      let plain = try Command.run(words)
      for result in [plain, try Command.run(words + ["--diagnose"])] {
        #expect(result.code == 1, "\(result.errors)")
        let lines = result.output.split(separator: "\n").suffix(2)
        #expect(
          lines.first?.hasPrefix(
            "cause: the framework was given pixels −1 to 1 in RGB for 'image'; this model expects BGR: "
              + "relative RMSE ") == true, "\(result.output)")
        #expect(
          lines.last == "remedy: convert or edit with --color rgb --preset keras-tf",
          "\(result.output)")
      }
      let none = try Command.run(words + ["--no-diagnose"])
      #expect(none.code == 1 && !none.output.contains("cause"), "\(none.output)")
      let json = try Command.run(words + ["--diagnose", "--json"])
      #expect(json.output.contains(#""part": "input""#), "\(json.output)")
    }
  }
}
