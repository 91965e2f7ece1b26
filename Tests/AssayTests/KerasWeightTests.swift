import TensorCore
import TestSupport
import Testing

/// The weights that a Keras layer gets, and the messages about them.
@Suite struct KerasWeightTests {
  private static let fixtures = Fixtures("keras/refused")

  /// Keras pairs layers and groups by order: `a` gets the group of `b`.
  @Test func weightsAreAssignedInOrder() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/order.mlmodel"
      let file = Self.fixtures.path("order.h5")
      let result = try Command.run("convert", file, "-o", model, "--prove")
      #expect(result.code == 0, "\(result.output) \(result.errors)")
      #expect(
        result.errors.contains("matched by order, not by name: 'a' gets the weights of 'b'"),
        "\(result.errors)")
    }
  }

  @Test(arguments: ["wide_int64.h5", "wide_uint64.h5", "wide_exact.h5"])
  func roundedWholeNumbersAreReported(_ name: String) throws {
    let result = try Command.run("convert", Self.fixtures.path(name), "--dry-run")
    #expect(result.code == 0, "\(result.errors)")
    let says = result.errors.contains("layer 'd' (Dense): the weight 'd/kernel:0' is ")
    #expect(says == (name != "wide_exact.h5"), "\(result.errors)")
    if says { #expect(result.errors.contains("single precision keeps 24 bits")) }
  }
}
