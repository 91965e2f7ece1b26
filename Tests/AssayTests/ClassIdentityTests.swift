import TensorCore
import TestSupport
import Testing

/// A class is Keras's only if the file says so; the name alone does not count.
@Suite struct ClassIdentityTests {
  private static let fixtures = Fixtures("keras/identity")
  private static let files = fixtures.names.filter {
    $0 != "README.md" && !$0.hasSuffix("_weights.h5")
  }

  @Test(arguments: files)
  func classesOfOthersAreUnknown(_ name: String) throws {
    let path = Self.fixtures.path(name)
    let result = try Command.run("convert", path, "--dry-run")
    #expect(result.code == 2, "\(result.output)")
    let isFunction = name.hasPrefix("k3_custom_fn") || name.hasPrefix("registered_activation")
    let reason =
      isFunction
      ? "is a function of its author's"
      : name.contains("dropconnect")
        ? "drop_connect_rate" : ">"
    let line = result.errors.split(separator: "\n").first { $0.hasPrefix("error: ") } ?? ""
    #expect(line.contains(name) && line.contains("layer '") && line.contains(reason), "\(line)")
  }

  @Test(arguments: files)
  func theyBecomeCustomLayers(_ name: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/custom.mlmodel"
      let result = try Command.run(
        "convert", Self.fixtures.path(name), "-o", model, "--custom-layers", "allow")
      #expect(result.code == 0, "\(result.errors)")
      let inspected = try Command.run("inspect", model)
      #expect(inspected.output.contains("custom"), "\(inspected.output)")
    }
  }

  /// A layer of Keras that contains another object.
  private static func layer(_ className: String, _ config: String, _ more: String = "") -> String {
    #"{"class_name": "\#(className)", \#(more) "config": {"name": "l", \#(config)}}"#
  }

  private static let shape = #""batch_input_shape": [null, 3, 4]"#
  private static let mine = #""module": null, "registered_name": "Mine>"#
  private static let units = #""config": {"name": "c", "units": 2}"#

  private static func run(_ layer: String, version: String) throws -> Command.Result {
    try withTemporaryFolder { folder in
      let path = folder + "/network.json"
      let text = """
        {"class_name": "Sequential", "keras_version": "\(version)",
         "config": {"name": "s", "layers": [\(layer)]}}
        """
      try writeFile(Array(text.utf8), to: path)
      return try Command.run("convert", path, "--dry-run")
    }
  }

  private static let ofOthers = [
    layer(
      "TimeDistributed", shape + #", "layer": {"class_name": "Dense", \#(mine)Dense", \#(units)}"#),
    layer("TimeDistributed", shape + #", "layer": {"class_name": "Mine>Dense", \#(units)}"#),
    layer("Bidirectional", shape + #", "layer": {"class_name": "LSTM", \#(mine)LSTM", \#(units)}"#),
    layer("RNN", shape + #", "cell": {"class_name": "GRUCell", \#(mine)GRUCell", \#(units)}"#),
    layer("Dense", shape + #", "units": 2, "activation": "Mine>tanh""#),
    layer("Activation", shape + #", "activation": "Mine>relu""#),
    layer(
      "Activation",
      shape + #", "activation": {"class_name": "ReLU", \#(mine)ReLU", "config": {"name": "r"}}"#),
    layer("LSTM", shape + #", "units": 2, "recurrent_activation": "Mine>sigmoid""#),
    layer("Lambda", shape + #", "function": "Mine>reverse", "function_type": "function""#),
    layer("Dense", shape + #", "units": 2"#, #""module": "mine.layers", "registered_name": null,"#),
    layer(
      "Dense", shape + #", "units": 2"#,
      #""module": "keras.layers", "registered_name": "Mine>Dense","#),
    layer("Dense", shape + #", "units": 2"#, #""module": null,"#),
    layer("Absolute", shape, #""module": "mine.ops", "registered_name": "Mine>Absolute","#),
    layer(
      "Sequential",
      #""layers": [\#(layer("Dense", shape + #", "units": 2"#))]"#, mine + #"Sequential","#),
    layer("StringLookup", shape, #""module": null, "registered_name": "Mine>StringLookup","#),
  ]

  /// In wrappers and cells, as functions, and as models.
  @Test(arguments: ofOthers)
  func objectsInsideAreIdentified(_ layer: String) throws {
    let result = try Self.run(layer, version: "2.15.0")
    #expect(result.code == 2, "\(result.output)")
    #expect(result.errors.contains("layer 'l'"), "\(result.errors)")
    let reasons = ["ine>", ">Dense", "this layer class is not supported", "is not in the file"]
    #expect(reasons.contains(where: result.errors.contains), "\(result.errors)")
  }

  @Test func modelsOfOthersAreIdentified() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/network.json"
      let text = Self.layer(
        "Functional", #""layers": [], "input_layers": [], "output_layers": []"#,
        Self.mine + #"Functional","#)
      try writeFile(Array(text.utf8), to: path)
      let result = try Command.run("convert", path, "--dry-run")
      #expect(result.code == 2)
      #expect(result.errors.contains("class 'Mine>Functional' can be rebuilt"), "\(result.errors)")
    }
  }

  private static let ofKeras =
    ["keras.layers", "keras.src.layers.core.dense", "tf_keras.layers"]
    + ["keras_core.layers", "tensorflow.python.keras.layers.core", "keras.engine.base_layer"]

  @Test(arguments: ofKeras)
  func modulesOfKerasAreKnown(_ module: String) throws {
    for registered in ["null", #""Dense""#] {
      let layer = Self.layer(
        "Dense", Self.shape + #", "units": 2"#,
        #""module": "\#(module)", "registered_name": \#(registered),"#)
      let result = try Self.run(layer, version: "2.15.0")
      #expect(result.code == 0, "\(result.errors)")
    }
  }

  /// Classes of packages that match Keras's, and classes known by their fields and weights.
  @Test(arguments: [
    layer("Addons>GroupNormalization", shape + #", "groups": 2, "axis": -1"#),
    layer("Addons>InstanceNormalization", shape + #", "groups": -1, "axis": -1"#),
    layer("Mine>Swish", shape + #", "beta": 1.5"#),
    layer("Swish", shape + #", "beta": 1.5"#, #""module": null, "registered_name": "Mine>Swish","#),
    layer("keras_cv>RandomFlip", shape + #", "mode": "horizontal""#),
    layer("Dense", shape + #", "units": 2, "activation": "Addons>mish""#),
  ])
  func classesOfKnownPackagesAreKnown(_ layer: String) throws {
    let result = try Self.run(layer, version: "2.9.0")
    #expect(result.code == 0, "\(result.errors)")
  }

  /// A class with a weight that is missing in its formula computes something else.
  @Test func formulasFitTheWeights() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/network.json"
      let swish = Self.layer("Swish", Self.shape)
      let text = #"{"class_name": "Sequential", "config": {"name": "s", "layers": [\#(swish)]}}"#
      try writeFile(Array(text.utf8), to: path)
      #expect(try Command.run("convert", path, "--dry-run").code == 0)
      let weights = Fixtures("keras/identity").path("swish_weights.h5")
      let result = try Command.run("convert", path, weights, "--dry-run")
      #expect(result.code == 2, "\(result.output)")
      #expect(result.errors.contains("1 weight"), "\(result.errors)")
    }
  }
}
