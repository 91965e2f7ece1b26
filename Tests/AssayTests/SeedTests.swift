import Foundation
import TestSupport
import Testing

/// The project's first networks, on the command line.
@Suite struct SeedTests {
  /// The published prediction of the Swish network for its photo.
  static let published: [Double] = [
    2.24579312e-02, 6.99496120e-02, 7.55519234e-03, 1.38940173e-03, 5.51432837e-03,
    8.00364137e-01, 1.42883752e-02, 3.57461395e-04, 5.40433871e-03, 7.27192238e-02,
  ]

  /// The files, copied from `../shared/seed`.
  private static let seed = Fixtures("seed").folder

  static let swishRules = """
    [{ "class": "Lambda", "function": "swish", "className": "Swish",
       "description": "A fancy new activation function", "parameters": { "beta": 1.0 } },
     { "class": "Swish", "className": "Swish",
       "description": "A fancy new activation function", "parameters": { "beta": "$config.beta" } },
     { "class": "SwishBeta", "className": "Swish",
       "description": "A fancy new activation function", "parameters": { "beta": "$config.beta" } },
     { "class": "LearnableSwish", "className": "Swish",
       "description": "A fancy new activation function", "weights": ["beta"] }]
    """

  static let styleRules = """
    [{ "class": "Lambda", "function": "res_crop", "className": "ResCropBlockLambda" },
     { "class": "Lambda", "function": "rescale_output", "className": "RescaleOutputLambda" }]
    """

  static func convert(
    _ model: [String], rules: String, to folder: String,
    image: [String] = ["--image-input", "image"]
  ) throws -> String {
    try Data(rules.utf8).write(to: URL(filePath: folder + "/rules.json"))
    let path = folder + "/model.mlmodel"
    let result = try Command.run(
      ["convert"] + model + [
        "-o", path, "--input-name", "image", "--output-name", "output", "--custom-layers",
        folder + "/rules.json",
      ] + image)
    #expect(result.code == 0, "\(result.errors)")
    return path
  }

  @Test func publishedNumbers() throws {
    try withTemporaryFolder { folder in
      let model = try Self.convert(
        [Self.seed + "/swish_lambda.h5"], rules: Self.swishRules, to: folder)
      let result = try Command.run("run", model, Self.seed + "/floortje.png", "--json")
      #expect(result.code == 0, "\(result.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
      let outputs = try #require((object as? [String: Any])?["outputs"] as? [String: [Double]])
      let values = try #require(outputs["output"])
      #expect(values.count == 10)
      for (value, expected) in zip(values, Self.published) {
        #expect(abs(value - expected) <= 1e-6 * expected, "\(value) \(expected)")
      }
    }
  }

  @Test(arguments: ["swish_lambda", "swish_beta", "swish_learnable"])
  func swish(_ name: String) throws {
    try withTemporaryFolder { folder in
      let model = try Self.convert(
        ["\(Self.seed)/\(name).h5"], rules: Self.swishRules, to: folder)
      for (picture, expected) in [("floortje", "expected"), ("noise", "noise")] {
        let result = try Command.run(
          "diff", model, "\(Self.seed)/\(picture).png", "--expected",
          "\(Self.seed)/\(name).\(expected).npz")
        #expect(result.code == 0, "\(result.output)\(result.errors)")
      }
    }
  }

  @Test func originalSwishFile() throws {
    for (picture, expected) in [("floortje", "expected"), ("noise", "noise")] {
      let result = try Command.run(
        "diff", "\(Self.seed)/NeuralMcNeuralNet.mlmodel", "\(Self.seed)/\(picture).png",
        "--expected", "\(Self.seed)/NeuralMcNeuralNet.\(expected).npz")
      #expect(result.code == 0, "\(result.output)\(result.errors)")
    }
  }

  @Test func style() throws {
    try withTemporaryFolder { folder in
      try Self.compareStyle(
        Self.convertStyle([packageRoot + "/Fixtures/demo/style.h5"], to: folder))
    }
  }

  /// Architecture and weights in two files, and the model that its author published.
  @Test(.shared("seed"), arguments: ["architecture and weights", "original"])
  func styleOfOtherFiles(_ source: String) throws {
    let seed = Shared.path("seed")
    try withTemporaryFolder { folder in
      try Self.compareStyle(
        source == "original"
          ? seed + "/FastStyleTransferVanGoghStarryNight.mlmodel"
          : Self.convertStyle(
            [seed + "/style_architecture.json", seed + "/van-gogh-starry-night_style.h5"],
            to: folder))
    }
  }

  private static func convertStyle(_ files: [String], to folder: String) throws -> String {
    try convert(
      files, rules: styleRules, to: folder,
      image: ["--image-input", "image", "--image-output", "output"])
  }

  private static func compareStyle(_ model: String) throws {
    let result = try Command.run(
      "diff", model, seed + "/style_input.png", "--expected", seed + "/style.expected.npz",
      "--atol", "0.05", "--rtol", "0")
    #expect(result.code == 0, "\(result.output)\(result.errors)")
  }

  @Test func missingImplementationIsNamedBeforeAnythingRuns() throws {
    try withTemporaryFolder { folder in
      let model = try Self.convert(
        [Self.seed + "/swish_lambda.h5"],
        rules: #"[{ "class": "Lambda", "className": "Unheard" }]"#, to: folder)
      let result = try Command.run("run", model, Self.seed + "/floortje.png")
      #expect(result.code == 2)
      #expect(result.errors.contains("implementation named 'Unheard'"))
      #expect(result.errors.contains("was not found"))
    }
  }

  @Test func traceShowsTheContract() throws {
    let result = try Command.run(
      "run", Self.seed + "/NeuralMcNeuralNet.mlmodel", Self.seed + "/floortje.png",
      "--verbose")
    #expect(result.code == 0)
    #expect(result.errors.contains("[[1, 1, 6, 256, 256]]"))
    #expect(result.errors.contains("\n1 1\n"))
  }
}
