import Foundation
import TestSupport
import Testing

/// Common kinds of custom layers, converted from their source, match Keras's predictions.
@Suite struct OwnLayerTests {
  private static let fixtures = Fixtures("keras/layer-sources")

  /// The networks of Keras 3 and tf_keras; `gated.py` has the classes of `gated.keras`.
  private static let networks = [
    "attention_pooling.keras", "attention_pooling.h5", "attention_pooling_tf_keras.h5",
    "class_token.keras", "class_token.h5", "classifier.keras", "gated.keras", "gated.h5",
    "graph.keras", "graph.h5", "graph_tf_keras.h5", "layer_normalization.keras",
    "layer_normalization_tf_keras.h5", "heads.keras", "heads.h5", "mean_of_words.keras",
    "mean_of_words.h5", "moving.keras", "moving.h5", "patches.keras", "patches.h5",
    "positional.keras", "positional.h5", "positional_tf_keras.h5", "residual.keras", "residual.h5",
    "residual_tf_keras.h5", "scale.keras", "scale.h5", "shuffle.keras", "shuffle.h5",
    "spectral.keras", "spectral.h5", "squeeze_excite.keras", "squeeze_excite.h5",
    "transformer.keras", "transformer.h5", "lstm_reader.keras", "lstm_reader.h5",
    "lstm_reader_tf_keras.h5", "gru_gate.keras", "gru_gate.h5", "gru_gate_tf_keras.h5",
    "simple_steps.keras", "simple_steps.h5", "simple_steps_tf_keras.h5", "both_ways.keras",
    "both_ways.h5", "both_ways_tf_keras.h5", "sized_tf_keras.h5", "tracked.keras",
    "known_values.keras", "known_values.h5", "token_masks.keras", "token_masks.h5",
    "standardized.keras", "standardized.h5", "standardized_tf_keras.h5", "unrolled.keras",
    "unrolled.h5", "unrolled_tf_keras.h5", "wide_and_deep.keras", "wrapped.keras", "wrapped.h5",
    "wrapped_tf_keras.h5", "comparisons.keras", "comparisons.h5", "masked_cells.keras",
    "masked_cells.h5", "masked_cells_tf_keras.h5",
  ]

  @Test(arguments: networks)
  func predictions(_ file: String) throws {
    let name = String(file.prefix { $0 != "." })
    let source = name.hasSuffix("_tf_keras") ? String(name.dropLast(9)) : name
    let result = try Command.run(
      ["diff", Self.fixtures.path(file), Self.fixtures.path("\(name).inputs.npz")]
        + ["--expected", Self.fixtures.path("\(name).expected.npz")]
        + ["--layer-source", Self.fixtures.path("\(source).py")]
        + (name == "heads" ? ["--layer-source", Self.fixtures.path("heads_helper.py")] : [])
        + ["--rtol", "0", "--atol", "2e-5"])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  /// What `convert` says of a network whose layer SpectralPooling has this source.
  private func spectralPooling(_ source: String) throws -> Command.Result {
    try withTemporaryFolder { folder in
      try source.write(toFile: folder + "/layer.py", atomically: true, encoding: .utf8)
      return try Command.run(
        "convert", Self.fixtures.path("spectral.keras"), "-o", folder + "/m.mlmodel",
        "--layer-source", folder + "/layer.py")
    }
  }

  /// Matrix norms are not elementwise norms.
  @Test(arguments: ["ord=2, axis=(1, 2)", "ord=1, axis=(1, 2)", "ord='nuc', axis=(1, 2)"])
  func aNormOfMatricesIsRefused(_ arguments: String) throws {
    let result = try spectralPooling(
      """
      from keras import layers, ops

      class SpectralPooling(layers.Layer):
          def __init__(self, keep, power=2, **kwargs):
              super().__init__(**kwargs)

          def call(self, inputs):
              return inputs / ops.norm(inputs, \(arguments), keepdims=True)

      """)
    #expect(result.code == 2)
    #expect(result.errors.contains("a norm of the order"), "\(result.errors)")
  }

  /// Keras's cast to half precision rounds, which Core ML's networks cannot.
  @Test func aCastToHalfPrecisionIsNoted() throws {
    let result = try spectralPooling(
      """
      from keras import layers, ops

      class SpectralPooling(layers.Layer):
          def __init__(self, keep, power=2, **kwargs):
              super().__init__(**kwargs)

          def call(self, inputs):
              return ops.cast(ops.cast(inputs, "float16"), "float32")

      """)
    #expect(result.code == 0)
    #expect(result.errors.contains("Keras rounds its values to float16"), "\(result.errors)")
  }

  /// A class may change what Keras's layer computes behind its back: by a method that Keras calls, by a
  /// setting that is changed after the constructor, by a property of its name, or by an array.
  @Test(arguments: [
    ("pass", "def _pooling_function(self, x, *sizes): return x", "its own '_pooling_function'"),
    ("self.strides = 1", "pass", "it changes 'strides' of a layer AveragePooling1D"),
    ("pass", "def build(self, shape): self.padding = 'same'", "it changes 'padding' of a layer"),
    (
      "pass", "@property\n    def padding(self): return 'same'",
      "its class defines 'padding'"
    ),
    (
      "self.sum = layers.Add()", "def call(self, x): return self.sum([x, np.ones((1, 8, 6))])",
      "its layer Add gets an array"
    ),
  ])
  func aChangedLayerOfKerasIsRefused(_ setting: String, _ member: String, _ message: String) throws
  {
    let result = try spectralPooling(
      """
      import numpy as np
      from keras import layers

      class SpectralPooling(layers.AveragePooling1D):
          def __init__(self, keep, power=2, **kwargs):
              super().__init__(2, **kwargs)
              \(setting)

          \(member)

      """)
    #expect(result.code == 2)
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  /// All files of a folder count.
  @Test func theSourcesOfAFolder() throws {
    try withTemporaryFolder { folder in
      for name in ["heads", "heads_helper"] {
        try FileManager.default.copyItem(
          atPath: Self.fixtures.path(name + ".py"), toPath: "\(folder)/\(name).py")
      }
      let result = try Command.run(
        "diff", Self.fixtures.path("heads.keras"), Self.fixtures.path("heads.inputs.npz"),
        "--expected", Self.fixtures.path("heads.expected.npz"), "--layer-source", folder)
      #expect(result.code == 0, "\(result.output)\(result.errors)")
    }
  }

  /// A package has a supported layer with the same class name.
  @Test func aClassThatMayBeAnothersNamesTheOption() throws {
    try withTemporaryFolder { folder in
      let result = try Command.run(
        "convert", Self.fixtures.path("transformer.keras"), "-o", folder + "/m.mlmodel")
      #expect(result.code == 2)
      #expect(result.errors.contains("--layer-source FILE.py"), "\(result.errors)")
    }
  }

  /// TensorFlow 1's LSTM has a different default than TensorFlow 2's, but writes the same as 2.0.
  @Test func anOldFilesRecurrentLayerMustSayItsActivation() throws {
    try withTemporaryFolder { folder in
      let file = URL(fileURLWithPath: Self.fixtures.path("lstm_reader_tf_keras.h5"))
      let old = [UInt8](try Data(contentsOf: file))
        .replacing(Array("2.21.0".utf8), with: Array("2.02.0".utf8))
      try Data(old).write(to: URL(fileURLWithPath: folder + "/old.h5"))
      let result = try Command.run(
        "convert", folder + "/old.h5", "-o", folder + "/m.mlmodel",
        "--layer-source", Self.fixtures.path("lstm_reader.py"))
      #expect(result.code == 2)
      #expect(result.errors.contains("no 'recurrent_activation'"), "\(result.errors)")
    }
  }

  /// Keras 3 predicts with the weights of the first call of a `tf.function`.
  @Test func aTracedCallIsRefused() throws {
    try withTemporaryFolder { folder in
      let source = try String(contentsOfFile: Self.fixtures.path("scale.py"), encoding: .utf8)
      let traced = source.replacing("    def call(", with: "    @tf.function\n    def call(")
      try traced.write(toFile: folder + "/traced.py", atomically: true, encoding: .utf8)
      let result = try Command.run(
        "convert", Self.fixtures.path("scale.keras"), "-o", folder + "/m.mlmodel",
        "--layer-source", folder + "/traced.py")
      #expect(result.code == 2)
      #expect(result.errors.contains("tf.function"), "\(result.errors)")
    }
  }
}
