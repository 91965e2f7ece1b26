import ByteFormats
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Quantizers of QKeras, whose results follow from their definition.
struct QuantizerTests {
  private func quantized(_ text: String, _ values: [Float]) throws -> [Float] {
    let configuration = LayerConfiguration(
      name: "layer", className: "QDense", fields: JSONObject(),
      version: try source(single("Dense", input: "[null, 3]", #""units": 1"#)).version)
    let quantizer = try #require(
      try Quantizer(.string(text), configuration, "kernel_quantizer"))
    return try quantizer.quantized(FloatValues(values)).array()
  }

  /// Four bits with a sign, two of them before the point: steps of ¼ from −2 to 1¾.
  @Test func stepsOfAFixedPoint() throws {
    let values: [Float] = [0.3, 0.375, -0.3, 5, -5]
    #expect(
      try quantized("quantized_bits(4, 1, alpha=1)", values) == [0.25, 0.5, -0.25, 1.75, -2])
    #expect(
      try quantized("quantized_bits(4,1,symmetric=1,alpha=1)", values)
        == [0.25, 0.5, -0.25, 1.75, -1.75])
    #expect(try quantized("quantized_relu(3,1)", values) == [0.25, 0.5, 0, 1.75, 0])
  }

  @Test func signsAndPowers() throws {
    #expect(try quantized("binary(alpha=2.0)", [0.1, 0, -0.1]) == [2, 2, -2])
    #expect(try quantized("ternary(alpha=1, threshold=0.5)", [0.4, 0.6, -0.6]) == [0, 1, -1])
    #expect(try quantized("quantized_po2(4)", [0.3, -3.1, 0.7]) == [0.25, -4, 0.5])
  }

  /// A weight of several pieces in steps of 1, in an order that shows where each number went.
  @Test func largeWeights() throws {
    let values = (0..<200_000).map { Float($0 * 7 % 200_000) + 0.25 }
    #expect(try quantized("quantized_bits(20, 19, alpha=1)", values) == values.map { $0 - 0.25 })
  }

  /// The best factor for ±1 is the mean of the sizes.
  @Test func factorOfAChannel() throws {
    let configuration = LayerConfiguration(
      name: "layer", className: "QDense", fields: JSONObject(),
      version: try source(single("Dense", input: "[null, 3]", #""units": 1"#)).version)
    let quantizer = try #require(
      try Quantizer(.string("binary(alpha='auto')"), configuration, "kernel_quantizer"))
    let kernel = FloatValues([1, 4, -3, 8]).shaped([2, 2])
    let result = try quantizer.quantized(kernel).array()
    for (value, expected) in zip(result, [2, 6, -2, 6] as [Float]) {
      #expect(abs(value - expected) < 1e-5)
    }
  }

  @Test(arguments: ["bernoulli(alpha=1)", "quantized_bits(4,1", "__import__('os')"])
  func whatIsNoQuantizerIsRefused(_ text: String) {
    let error = modelError { try quantized(text, [1]) }
    #expect(error?.layer == "layer" && error?.field == "kernel_quantizer")
  }

  @Test func classesOfHGQAreNotTakenForThoseOfQKeras() {
    let error = modelError {
      try convert(
        single("QDense", input: "[null, 3]", #""units": 1, "kq_conf": {}"#),
        ["layer": [.init("kernel:0", [3, 1]), .init("bias:0", [1])]])
    }
    #expect(error?.code == .unsupported && error?.message.contains("HGQ") == true)
  }
}
