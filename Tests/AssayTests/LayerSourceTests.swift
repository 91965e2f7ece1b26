import Foundation
import TestSupport
import Testing

/// Layers with classes in Python source match Keras's predictions.
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

  private static let functions = Fixtures("keras/layer-sources")

  /// Weights alone, from Keras 3 and tf_keras, and a function that builds their network.
  @Test(arguments: ["unet", "stacked", "twins"], [".weights.h5", "_tf_keras.h5"])
  func networksOfFunctions(_ name: String, _ ending: String) throws {
    let files = Self.functions
    let call = try String(contentsOfFile: files.path(name + ".call.txt"), encoding: .utf8)
    let function = files.path(name + ".py:" + call.trimmingCharacters(in: .newlines))
    let weights = files.path(name + ending)
    let arrays = files.path(ending.contains("tf_keras") ? name + "_tf_keras" : name)
    try withTemporaryFolder { folder in
      let result = try Command.run(
        "convert", function, weights, "-o", folder + "/m.mlmodel", "--inputs",
        arrays + ".inputs.npz", "--expected", arrays + ".expected.npz")
      #expect(result.code == 0, "\(result.output)\(result.errors)")
      let option = try Command.run(
        "convert", weights, "--model-source", function, "-o", folder + "/same.mlmodel")
      #expect(option.code == 0, "\(option.errors)")
      let both = try Command.run("diff", folder + "/m.mlmodel", folder + "/same.mlmodel")
      #expect(both.code == 0, "\(both.output)\(both.errors)")
    }
  }

  /// For a function that builds no network, or not the one of these weights, an error says why.
  @Test(arguments: [
    ("build", "has no function for 'build'", "build_it, other"),
    ("", "which of its functions builds the network is not said", "build_it, other"),
    ("build_it(width=open('x'))", "literals", "'same'"),
    ("build_it(depth=2)", "unknown argument 'depth'", "model.py"),
    ("build_it()", "the file has extra weights for 'conv1d'", "stacked_tf_keras.h5"),
    ("other()", "line 16, column 12", "keras.applications.VGG16"),
    ("build_it(kind='list')", "does not return a Model", "build_it"),
    ("build_it(kind='open')", "does not have the Input", "model.py"),
    ("build_it(kind='train')", "training=True", "line 11"),
    ("build_it(kind='random')", "random", "line 13"),
    ("build_it(width=-1)", "-1 is not an integer", "line 9"),
  ]) func whatBuildsNoNetworkIsNamed(_ call: String, _ reason: String, _ more: String) throws {
    try withTemporaryFolder { folder in
      let source = """
        from tensorflow import keras
        from tensorflow.keras.layers import *


        def build_it(width=3, kind="plain"):
            inputs, other = Input((4,)), Input((4,))
            if kind == "list":
                return [inputs]
            x = Dense(width)(inputs)
            if kind == "train":
                x = BatchNormalization()(x, training=True)
            if kind == "random":
                x = x + keras.backend.random_normal((3,))
            return keras.Model(other if kind == "open" else inputs, x)
        def other():
            base = keras.applications.VGG16(include_top=False)
            return keras.Model(base.input, base.output)

        """
      let path = folder + "/model.py"
      try source.write(toFile: path, atomically: true, encoding: .utf8)
      let result = try Command.run(
        "convert", call.isEmpty ? path : path + ":" + call,
        Self.functions.path("stacked_tf_keras.h5"), "-o", folder + "/m.mlmodel")
      #expect(result.code == 2, "\(result.output)\(result.errors)")
      #expect(result.errors.contains(reason), "\(result.errors)")
      #expect(result.errors.contains(more), "\(result.errors)")
    }
  }

  /// The error names the missing class.
  @Test func anUnknownLayerAsksForItsSource() throws {
    try withTemporaryFolder { folder in
      let network = Self.fixtures.path("affine_steps.h5")
      let result = try Command.run("convert", network, "-o", folder + "/m.mlmodel")
      #expect(result.code == 2)
      #expect(result.errors.contains("--layer-source FILE.py"), "\(result.errors)")
    }
  }

  /// Errors about unsupported code have a file, a line and a reason.
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
