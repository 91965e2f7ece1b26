import TensorCore
import TestSupport
import Testing

/// Arguments are refused if and only if Keras refuses to build the layer.
@Suite struct KerasArgumentTests {
  private static let fixtures = Fixtures("keras/refused")

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

  private static func layer(_ className: String, _ config: String) -> String {
    """
    {"class_name": "\(className)",
     "config": {"name": "l", "batch_input_shape": [null, 6, 4], \(config)}}
    """
  }

  @Test func unknownArgumentsOfAFileAreRefused() throws {
    let result = try Command.run("convert", Self.fixtures.path("unknown_key.h5"), "--dry-run")
    #expect(result.code == 2, "\(result.output)")
    #expect(
      result.errors.contains("unknown_key.h5: layer 'd' (Dense): frobnicate: 7 is an argument"),
      "\(result.errors)")
  }

  private static let units = #""config": {"name": "c", "units": 2, "frob": 1}"#

  /// In every class, including wrappers and cells; also arguments of other classes.
  @Test(arguments: [
    layer("Dropout", #""rate": 0.5, "frob": 1"#), layer("Flatten", #""frob": null"#),
    layer("Dense", #""units": 2, "filters": 3"#), layer("ReLU", #""frob": 1"#),
    layer("BatchNormalization", #""axis": -1, "frob": 1"#),
    layer("TimeDistributed", #""layer": {"class_name": "Dense", \#(units)}"#),
    layer("Bidirectional", #""layer": {"class_name": "LSTM", \#(units)}"#),
    layer("RNN", #""cell": {"class_name": "GRUCell", \#(units)}"#),
    layer("Activation", #""activation": "relu", "frob": 1"#),
    layer("FixedDropout", #""rate": 0.5, "frob": 1"#),
  ])
  func unknownArgumentsAreRefused(_ layer: String) throws {
    let result = try Self.run(layer, version: "2.9.0")
    #expect(result.code == 2, "\(result.output)")
    #expect(result.errors.contains("layer 'l'"), "\(result.errors)")
    #expect(
      result.errors.contains("is an argument that the class does not have"), "\(result.errors)")
  }

  /// The ranges in keras/layers of each version.
  @Test(arguments: [
    ("ReLU", #""max_value": -1"#, "2.2.4"), ("ReLU", #""negative_slope": -0.5"#, "2.9.0"),
    ("ReLU", #""threshold": -1"#, "2.9.0"), ("ThresholdedReLU", #""theta": -1"#, "2.9.0"),
    ("LeakyReLU", #""negative_slope": -0.1"#, "3.6.0"), ("Dropout", #""rate": 1.5"#, "2.9.0"),
    ("Dropout", #""rate": -0.1"#, "3.6.0"), ("SpatialDropout1D", #""rate": 2"#, "2.9.0"),
    ("AlphaDropout", #""rate": 1.1"#, "3.6.0"), ("GaussianNoise", #""stddev": 3"#, "3.6.0"),
    ("Conv1D", #""filters": 2, "kernel_size": 2, "strides": 2, "dilation_rate": 2"#, "3.6.0"),
  ])
  func valuesOutOfRangeAreRefused(_ className: String, _ config: String, _ version: String) throws {
    let result = try Self.run(Self.layer(className, config), version: version)
    #expect(result.code == 2, "\(result.output)")
    #expect(result.errors.contains("layer 'l' (\(className)): "), "\(result.errors)")
  }

  /// Older versions accept these.
  @Test(arguments: [
    ("LeakyReLU", #""alpha": -0.1"#, "2.9.0"), ("Dropout", #""rate": 1.5"#, "2.2.4"),
    ("GaussianNoise", #""stddev": 3"#, "2.9.0"), ("ThresholdedReLU", #""theta": -1"#, "2.2.4"),
    ("Dense", #""output_dim": 2, "init": "uniform", "W_regularizer": null"#, "1.2.2"),
    ("Dense", #""units": 2, "kernel_initializer": null, "lora_rank": null"#, "3.6.0"),
  ])
  func otherVersionsMayDiffer(_ className: String, _ config: String, _ version: String) throws {
    let result = try Self.run(Self.layer(className, config), version: version)
    #expect(result.code == 0, "\(result.errors)")
  }
}
