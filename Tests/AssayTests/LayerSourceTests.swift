import Foundation
import TestSupport
import Testing

/// Layers whose classes are given as Python source predict what Keras did.
@Suite struct LayerSourceTests {
  private static let fixtures = Fixtures("keras/sources")

  private static let networks = fixtures.names.filter {
    $0.hasSuffix(".keras") || $0.hasSuffix(".h5")
  }

  private func convert(_ network: String, _ source: String, _ more: String...) throws
    -> Program.Result
  {
    try withTemporaryFolder { folder in
      try Command.run(
        [
          "convert", Self.fixtures.path(network), "-o", folder + "/m.mlmodel", "--layer-source",
          source,
        ]
          + more)
    }
  }

  @Test(arguments: networks)
  func predictions(_ network: String) throws {
    let name = Self.fixtures.path(String(network.prefix { $0 != "." }))
    let source = network.hasPrefix("old") ? "old_layers.py" : "layers.py"
    let result = try convert(
      network, Self.fixtures.path(source), "--layer-source", Self.fixtures.path("helpers.py"),
      "--inputs", name + ".inputs.npz", "--expected", name + ".expected.npz")
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  /// The error names what is missing.
  @Test func anUnknownLayerAsksForItsSource() throws {
    try withTemporaryFolder { folder in
      let network = Self.fixtures.path("affine_steps.h5")
      let result = try Command.run("convert", network, "-o", folder + "/m.mlmodel")
      #expect(result.code == 2)
      #expect(result.errors.contains("--layer-source FILE.py"), "\(result.errors)")
    }
  }

  /// What cannot be followed has a file, a line and a reason.
  @Test(arguments: [
    ("return ops.fft(inputs)", "line 14, column 16", "keras.ops.fft"),
    ("while True: inputs = inputs + 1", "line 14", "too long"),
    ("while True: n = 1", "affine.py", "too many steps"),
    ("return self.call(inputs)", "line 14", "deep"),
    ("return unknown", "line 14, column 16", "unknown"),
    ("yield inputs", "line 13", "yield"),
    ("with open('x') as f: return inputs", "line 14", "with"),
    ("return inputs if inputs > 0 else 1", "line 14", "tensor"),
    ("return (inputs", "line 15", "instead of"),
    ("return [0] * 10 ** 12", "line 14", "list"),
    ("self.w = self.add_weight(shape=(5,)); return inputs", "affine", "weights"),
  ]) func whatCannotBeFollowedIsNamed(_ line: String, _ place: String, _ reason: String) throws {
    try withTemporaryFolder { folder in
      let source = """
        from keras import layers, ops


        class Affine(layers.Layer):
            def __init__(self, units, use_bias=True, activation=None, **kwargs):
                super().__init__(**kwargs)
                self.units = units

            def build(self, input_shape):
                self.w = self.add_weight(shape=(input_shape[-1], self.units))
                self.b = self.add_weight(shape=(self.units,))

            def call(self, inputs):
                \(line)

        """
      let path = folder + "/affine.py"
      try source.write(toFile: path, atomically: true, encoding: .utf8)
      let result = try convert("affine_steps.h5", path)
      #expect(result.code == 2, "\(result.output)\(result.errors)")
      #expect(result.errors.contains(place), "\(result.errors)")
      #expect(result.errors.contains(reason), "\(result.errors)")
    }
  }
}
