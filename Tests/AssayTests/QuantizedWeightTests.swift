import TestSupport
import Testing

/// Integer weights of Keras 3 become codes with scales in the model.
@Suite struct QuantizedWeightTests {
  /// The matrices of Dense and EinsumDense; tables of embeddings have one scale per row, which the
  /// format does not support.
  @Test(arguments: [
    ("quantized_int8.keras", "8 bits", 4), ("quantized_int4.keras", "4 bits", 2),
    ("quantized_int4_matrices.h5", "4 bits", 3),
  ])
  func codesStayCodes(_ name: String, _ storage: String, _ count: Int) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        ["convert", Fixtures("keras/layers/k3").path(name), "-o", model])
      #expect(converted.code == 0, "\(converted.errors)")
      let inspected = try Command.run(["inspect", model, "--json"]).output
      #expect(inspected.ranges(of: "\"storage\": \"\(storage)\"").count == count)
    }
  }

  /// The format supports codes from iOS 12 on.
  @Test func olderSystemsGetNumbers() throws {
    try withTemporaryFolder { folder in
      let (path, model) = (
        Fixtures("keras/layers/k3").path("quantized_int4"), folder + "/m.mlmodel"
      )
      let converted = try Command.run(
        ["convert", path + ".keras", "-o", model, "--target", "iOS11"])
      #expect(converted.code == 0, "\(converted.errors)")
      let same = try Command.run(
        [
          "diff", model, path + ".inputs.npz", "--expected", path + ".expected.npz", "--atol",
          "1e-5",
        ])
      #expect(same.code == 0, "\(same.output)\(same.errors)")
    }
  }

  /// Keras quantizes the layers inside attention, which is not supported.
  @Test func attentionIsRefused() throws {
    try withTemporaryFolder { folder in
      let result = try Command.run(
        [
          "convert", Fixtures("keras/refused").path("quantized_attention.h5"), "-o",
          folder + "/m.mlmodel",
        ])
      #expect(result.code == 2)
      #expect(
        result.errors.contains(
          "(MultiHeadAttention): it has more weights than its class: a layer inside is quantized"))
      #expect(result.errors.contains("hint: save the model before quantize()"))
    }
  }
}
