import Foundation
import TestSupport
import Testing

/// `convert --dry-run` of networks with layers that cannot be converted.
@Suite struct DryRunTests {
  private static let caffe = """
    input: "data"
    input_shape { dim: 1 dim: 3 dim: 8 dim: 8 }
    layer { name: "c" type: "Convolution" bottom: "data" top: "c"
      convolution_param { num_output: 4 kernel_size: 3 } }
    layer { name: "u" type: "Mystery" bottom: "c" top: "u" mystery_param { alpha: 0.5 } }
    layer { name: "s" type: "HardSwish" bottom: "u" top: "s" }
    layer { name: "bad" type: "Concat" bottom: "s" bottom: "data" top: "bad" }
    layer { name: "r" type: "ReLU" bottom: "s" top: "r" }
    """
  private static let keras = """
    {"class_name": "Sequential", "keras_version": "2.2.4", "backend": "tensorflow", "config": [
     {"class_name": "Conv2D", "config": {"name": "c", "batch_input_shape": [null, null, null, 3],
      "filters": 6, "kernel_size": [3, 3], "strides": [1, 1], "padding": "same",
      "data_format": "channels_last", "activation": "linear", "use_bias": true}},
     {"class_name": "MyScale", "config": {"name": "m", "factor": 2.5, "trainable": true}},
     {"class_name": "Flatten", "config": {"name": "f"}},
     {"class_name": "Dense", "config": {"name": "d", "units": 5, "activation": "linear",
      "use_bias": true}}]}
    """
  private static let darknet = """
    [net]
    width=8
    height=8
    channels=3
    [convolutional]
    filters=4
    size=3
    stride=1
    pad=1
    activation=relu
    [mystery]
    alpha=0.5
    [maxpool]
    size=2
    stride=2
    """

  /// Returns the plan, the errors, and the rules below them in a file.
  private func dryRun(
    _ text: String, _ name: String, _ options: [String] = [],
    _ body: (_ plan: [Substring], _ errors: String, _ network: String, _ rules: String) throws ->
      Void
  ) throws {
    try withTemporaryFolder { folder in
      let network = "\(folder)/\(name)"
      try text.write(toFile: network, atomically: true, encoding: .utf8)
      let result = try Command.run(["convert", network, "--dry-run"] + options)
      #expect(result.code == 2, "\(result.errors)")
      let start = try #require(result.errors.range(of: "\n[\n"), "\(result.errors)")
      let rules = folder + "/rules.json"
      try String(result.errors[start.lowerBound...])
        .write(toFile: rules, atomically: true, encoding: .utf8)
      try body(result.output.split(separator: "\n"), result.errors, network, rules)
    }
  }

  @Test func caffeWithoutWeights() throws {
    try dryRun(Self.caffe, "n.prototxt") { plan, errors, network, rules in
      #expect(plan[1] == "c      Convolution  → convolution 'c'")
      #expect(plan[2].hasPrefix("u      Mystery      → cannot be converted: "))
      #expect(plan[3].hasPrefix("s      HardSwish    → cannot be converted: "))
      #expect(plan[4].hasPrefix("bad    Concat       → open"))
      #expect(plan[5] == "r      ReLU         → activation 'r'")
      for text in ["--custom-layers allow", "\"expression\"", "the built-in class HardSwish"] {
        #expect(errors.contains(text), "\(text) in \(errors)")
      }
      // With the rules, only the Concat remains, which may be right.
      let pasted = try Command.run("convert", network, "--dry-run", "--custom-layers", rules)
      #expect(
        pasted.errors.contains(
          "layer 'u' (Mystery): the shape of its output is assumed, and layer 'bad' (Concat) "),
        "\(pasted.errors)")
      #expect(!pasted.errors.contains("(HardSwish)"))
      #expect(pasted.output.contains("→ custom 'u'"), "\(pasted.output)\(pasted.errors)")
    }
  }

  /// The proposals of Cascade R-CNN have a class of their own.
  @Test func theLayerWithAnAssumedShapeIsNamed() throws {
    let caffe = """
      input: "data"
      input_shape { dim: 1 dim: 6 dim: 4 dim: 4 }
      layer { name: "proposals" type: "BoxGroupOutput" bottom: "data" top: "proposals" }
      layer { name: "roi_pool" type: "ROIPooling" bottom: "data" bottom: "proposals" top: "r"
        roi_pooling_param { pooled_w: 3 pooled_h: 3 spatial_scale: 0.125 } }
      """
    let keras = """
      {"class_name": "Sequential", "keras_version": "2.2.4", "backend": "tensorflow", "config": [
       {"class_name": "MySteps", "config": {"name": "m", "batch_input_shape": [null, 6]}},
       {"class_name": "Conv1D", "config": {"name": "c", "filters": 4, "kernel_size": [3],
        "strides": [1], "padding": "valid", "activation": "linear", "use_bias": true}}]}
      """
    for (name, text, first, second) in [
      ("n.prototxt", caffe, "'proposals' (BoxGroupOutput)", "'roi_pool' (ROIPooling)"),
      ("n.json", keras, "'m' (MySteps)", "'c' (Conv1D)"),
    ] {
      try withTemporaryFolder { folder in
        let network = "\(folder)/\(name)"
        try text.write(toFile: network, atomically: true, encoding: .utf8)
        let result = try Command.run(
          "convert", network, "--dry-run", "--custom-layers", "allow")
        #expect(result.code == 2)
        let message =
          "error: \(network): layer \(first): the shape of its output is assumed, and layer \(second) "
        #expect(result.errors.contains(message), "\(result.errors)")
      }
    }
  }

  @Test func kerasWithAnInputShape() throws {
    let shape = ["--input-shape", "c_input=?,8,8,3"]
    try dryRun(Self.keras, "n.json", shape) { plan, errors, network, rules in
      #expect(plan.contains { $0.hasPrefix("m") && $0.contains("→ cannot be converted: ") })
      #expect(plan.contains { $0.hasPrefix("d") && $0.contains("→ innerProduct 'd'") }, "\(plan)")
      let pasted = try Command.run(
        ["convert", network, "--dry-run", "--custom-layers", rules] + shape)
      #expect(pasted.code == 0 && pasted.output.contains("→ custom 'm'"), "\(pasted.errors)")
      // "factor" is the only setting of the layer itself.
      #expect(errors.contains(#"{"factor": "$config.factor"}"#), "\(errors)")
    }
  }

  @Test func darknetWithoutWeights() throws {
    try dryRun(Self.darknet, "n.cfg") { plan, _, network, rules in
      #expect(plan.contains { $0.contains("mystery") && $0.contains("→ cannot be converted: ") })
      #expect(plan.last?.contains("→ pooling") == true, "\(plan)")
      let pasted = try Command.run("convert", network, "--dry-run", "--custom-layers", rules)
      #expect(pasted.code == 0 && pasted.output.contains("→ custom "), "\(pasted.errors)")
    }
  }

  /// Sizes after a layer that cannot be converted are unknown, so there are no errors about them.
  @Test func darknetBehindALayerThatCannotBeConverted() throws {
    let network = """
      [net]
      width=8
      height=8
      channels=3
      [mystery]
      filters=18
      [yolo]
      mask=0,1,2
      anchors=1,2,3,4,5,6
      classes=1
      num=3
      """
    try dryRun(network, "n.cfg") { plan, _, _, _ in
      #expect(plan.last?.hasPrefix("yolo_1") == true && plan.last?.contains("→ open") == true)
    }
  }

  /// The layer's rule, which names its weights, makes the network convertible.
  @Test func weightsAndLambdas() throws {
    let swish = "\(packageRoot)/Fixtures/demo/swish.h5"
    let result = try Command.run("convert", swish, "--lambda", "off", "--dry-run")
    #expect(result.code == 2)
    #expect(result.output.contains("→ convolution 'conv2'"), "\(result.output)")
    #expect(result.errors.contains("convert formulas with --lambda auto"), "\(result.errors)")
    #expect(result.errors.contains("'swish' may be the built-in class Swish"), "\(result.errors)")
    #expect(
      result.errors.hasSuffix(
        "\n[\n  {\"class\": \"Lambda\", \"function\": \"swish\", \"className\": \"Swish\"}\n]\n"))
  }
}
