import ByteFormats
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// What the quantizers of mct-quantizers do to single numbers, derived from their definitions; whole
/// networks are compared with the package's predictions in `Fixtures/keras/collections`.
@Suite struct InferableQuantizerTests {
  private func quantized(
    _ name: String, _ fields: String, _ values: [Float], shape: [Int]? = nil
  ) throws -> [Float] {
    let network = try source(single("Dense", input: "[null, 3]", #""units": 1"#))
    let quantizer = try InferableQuantizer(
      JSONValue(
        parsing: #"{"class_name": "\#(name)InferableQuantizer", "config": {\#(fields)}}"#),
      LayerConfiguration(
        name: "layer", className: "Dense", fields: JSONObject(), version: network.version),
      "weights_quantizer")
    return try quantizer.quantized(FloatValues(values).shaped(shape ?? [values.count])).array()
  }

  /// Four bits with a sign for −2 to 2: steps of ¼ up to 1¾, halves rounded up.
  @Test func stepsOfAThreshold() throws {
    let values: [Float] = [0.3, 0.375, -0.3, -0.375, 5, -5]
    for name in ["ActivationPOT", "ActivationSymmetric", "WeightsPOT", "WeightsSymmetric"] {
      #expect(
        try quantized(name, #""num_bits": 4, "threshold": [2.0], "signed": true"#, values)
          == [0.25, 0.5, -0.25, -0.25, 1.75, -2])
    }
    #expect(
      try quantized(
        "ActivationPOT", #""num_bits": 3, "threshold": [2.0], "signed": false"#, values)
        == [0.25, 0.5, 0, 0, 1.75, 0])
  }

  /// Two bits for −1 to 2 are the numbers −1, 0, 1, 2; a range that leaves out 0 is extended to it.
  @Test func stepsOfARange() throws {
    let values: [Float] = [0.4, 0.5, 3, -3]
    #expect(
      try quantized(
        "ActivationUniform", #""num_bits": 2, "min_range": [-1.2], "max_range": [1.8]"#, values)
        == [0, 1, 2, -1])
    #expect(
      try quantized(
        "WeightsUniform", #""num_bits": 2, "min_range": [1], "max_range": [3]"#, values)
        == [0, 1, 3, 0])
  }

  /// The nearest of 10, −10 and 0, and the first of two that are equally near.
  @Test func nearestInATable() throws {
    let fields = #""num_bits": 2, "lut_values": [10, -10, 0], "threshold": [128.0], "signed": true"#
    #expect(
      try quantized("ActivationLutPOT", fields, [4.9, 5, -5, -4.9, 99, -99])
        == [0, 10, -10, 0, 10, -10])
  }

  @Test func channelsHaveTheirOwnRanges() throws {
    let fields =
      #""num_bits": 2, "threshold": [2.0, 4.0], "per_channel": true, "input_rank": 2, "#
    let values: [Float] = [1.4, 1.4, -9, -9]
    #expect(
      try quantized("WeightsSymmetric", fields + #""channel_axis": 1"#, values, shape: [2, 2])
        == [1, 2, -2, -4])
    #expect(
      try quantized("WeightsSymmetric", fields + #""channel_axis": 0"#, values, shape: [2, 2])
        == [1, 1, -4, -4])
    let error = modelError {
      try quantized("WeightsSymmetric", fields + #""channel_axis": 0"#, values, shape: [4, 1])
    }
    #expect(error?.message.contains("2 ranges for a weight of [4, 1]") == true)
  }

  @Test func trainingIsRefused() {
    for name in ["ActivationTrainable", "STEActivation"] {
      let error = modelError { try quantized(name, #""num_bits": 2"#, [0]) }
      #expect(error?.message.contains("'\(name)InferableQuantizer' is not supported") == true)
      #expect(error?.hint?.contains("convert_to_inferable_quantizers()") == true)
    }
  }

  @Test func mutatedNetworks() throws {
    var random = Random(state: 13)
    for (layer, fields) in [
      (
        "AnchorBoxes",
        #""img_height": 30, "img_width": 40, "this_scale": 0.3, "next_scale": 0.5, "aspect_ratios": [1, 2], "this_steps": [8, 9], "variances": [0.1, 0.1, 0.2, 0.2], "coords": "minmax""#
      ),
      (
        "KerasActivationQuantizationHolder",
        #""activation_holder_quantizer": {"class_name": "ActivationUniformInferableQuantizer", "config": {"num_bits": 4, "min_range": [-1], "max_range": [2]}}"#
      ),
      (
        "KerasQuantizationWrapper",
        #""layer": {"class_name": "Conv2D", "config": {"name": "c", "filters": 2, "kernel_size": [1, 1]}}, "weights_quantizer": {"kernel": {"class_name": "WeightsLUTPOTInferableQuantizer", "config": {"num_bits": 2, "lut_values": [1, -1], "threshold": [1, 2], "per_channel": true, "channel_axis": 3, "input_rank": 4}}}"#
      ),
    ] {
      let original = try JSONValue(parsing: single(layer, input: "[null, 5, 6, 2]", fields))
      let weights: KeyValuePairs<String, [MemoryWeights.Weight]> =
        layer == "KerasQuantizationWrapper"
        ? ["layer": [.init("kernel:0", [1, 1, 2, 2]), .init("bias:0", [2])]] : [:]
      #expect(throws: Never.self) {
        try convert(single(layer, input: "[null, 5, 6, 2]", fields), version: "2.15.0", weights)
      }
      var converted = 0
      for _ in 0..<1000 {
        var json = original
        for _ in 0..<(1 + random.next(3)) { json = json.mutated(&random, depth: 0) }
        do {
          _ = try KerasImporter.convert(
            KerasSource(
              path: "m", version: KerasVersion(text: "2.15.0", backend: "tensorflow"),
              configuration: json, weights: MemoryWeights(weights)))
          converted += 1
        } catch let error as ModelError {
          #expect(error.code != .internal)
        }
      }
      #expect(converted > 0 && converted < 1000)
    }
  }
}
