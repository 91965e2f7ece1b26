import TestSupport
import Testing

/// Layers that the file calls with training=True, directly or through an enclosing model.
@Suite struct TrainingCallTests {
  /// Normalization by the batch, unless the layer is frozen in tf.keras, or Keras 3 overrides it.
  @Test(arguments: CallFixtures.names("training"))
  func statistics(_ name: String) throws {
    let comment =
      name.hasSuffix("keras_3")
      ? "is called with training=True, which Keras 3's predict() overrides"
      : ["false", "frozen", "dropout_0"].contains(where: name.hasSuffix)
        ? "" : "normalizes by the statistics of its input"
    try CallFixtures.expectAgreement(CallFixtures.path(name), comment: comment)
  }

  @Test(arguments: CallFixtures.framework("bn_training_true_tfk"))
  func asKeras(_ file: String) throws { try CallFixtures.expectAgreement(file) }

  @Test(
    arguments: CallFixtures.names("random_", isAnswered: false).map(CallFixtures.path)
      + CallFixtures.framework("gaussian_training_true_tfk"))
  func randomLayers(_ file: String) throws {
    try withTemporaryFolder { folder in
      let result = try Command.run(["convert", file, "-o", folder + "/m.mlmodel"])
      #expect(result.code == 2, "\(file): \(result.output)\(result.errors)")
      #expect(
        result.errors.contains(
          "it is called with training=True, so its result is random at prediction"),
        "\(file): \(result.errors)")
    }
  }

  @Test func networksAreThere() {
    #expect(CallFixtures.names("training").count == 11)
    #expect(CallFixtures.names("random_", isAnswered: false).count == 9)
  }
}
