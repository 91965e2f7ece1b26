import TestSupport
import Testing

/// The usual kinds of layer that people write themselves predict what Keras does, from their source.
@Suite struct OwnLayerTests {
  private static let fixtures = Fixtures("keras/layer-sources")

  /// The networks of Keras 3 and tf_keras; `gated.py` has the classes of `gated.keras`.
  private static let networks = [
    "attention_pooling.keras", "classifier.keras", "gated.keras", "gated.h5", "graph.keras",
    "graph.h5", "graph_tf_keras.h5", "layer_normalization.keras", "layer_normalization_tf_keras.h5",
    "moving.keras", "moving.h5", "residual.keras", "scale.keras", "scale.h5",
    "shuffle.keras", "shuffle.h5", "squeeze_excite.keras", "squeeze_excite.h5",
    "transformer.keras",
  ]

  @Test(arguments: networks)
  func predictions(_ file: String) throws {
    let name = String(file.prefix { $0 != "." })
    let source = name.hasSuffix("_tf_keras") ? String(name.dropLast(9)) : name
    let result = try Command.run(
      ["diff", Self.fixtures.path(file), Self.fixtures.path("\(name).inputs.npz")]
        + ["--expected", Self.fixtures.path("\(name).expected.npz")]
        + ["--layer-source", Self.fixtures.path("\(source).py"), "--rtol", "0", "--atol", "2e-5"])
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }
}
