import Foundation
import TestSupport
import Testing

/// Lambdas on the command line.
@Suite struct FormulaCommandTests {
  private let seed = Fixtures("seed").folder

  private func expectNoCustomLayer(_ model: String) throws {
    let inspection = try Command.run("inspect", model)
    #expect(inspection.code == 0, "\(inspection.errors)")
    #expect(!inspection.output.contains("custom"), "\(inspection.output)")
  }

  @Test(arguments: ["swish_lambda", "swish_beta", "swish_learnable"])
  func swishNetworksNeedNoRules(_ name: String) throws {
    try withTemporaryFolder { folder in
      let model = folder + "/model.mlmodel"
      let result = try Command.run(
        "convert", "\(seed)/\(name).h5", "-o", model, "--input-name", "image", "--output-name",
        "output", "--image-input", "image")
      #expect(result.code == 0, "\(result.errors)")
      #expect(result.errors.contains("is assumed to compute") == (name != "swish_lambda"))
      try expectNoCustomLayer(model)
      for (picture, expected) in [("floortje", "expected"), ("noise", "noise")] {
        let difference = try Command.run(
          "diff", model, "\(seed)/\(picture).png", "--expected",
          "\(seed)/\(name).\(expected).npz")
        #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
      }
    }
  }

  @Test func styleTransferNeedsNoRules() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/model.mlmodel"
      let result = try Command.run(
        "convert", packageRoot + "/Fixtures/demo/style.h5", "-o", model, "--input-name", "image",
        "--output-name", "output", "--image-input", "image", "--image-output", "output")
      #expect(result.code == 0, "\(result.errors)")
      try expectNoCustomLayer(model)
      let difference = try Command.run(
        "diff", model, seed + "/style_input.png", "--expected",
        seed + "/style.expected.npz")
      #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
    }
  }

  /// The demonstration network; Python 3.11 wrote its Lambda.
  @Test func thePlanShowsTheFormula() throws {
    let network = packageRoot + "/Fixtures/demo/swish.h5"
    let plan = try Command.run("convert", network, "--dry-run")
    #expect(plan.code == 0, "\(plan.errors)")
    #expect(plan.output.contains("Lambda, sigmoid(x) * x"), "\(plan.output)")
    #expect(!plan.output.contains("custom"))
    let explicit = try Command.run("convert", network, "--lambda", "auto", "--dry-run")
    #expect(explicit.code == 0 && explicit.output == plan.output)
    let refused = try Command.run("convert", network, "--lambda", "off", "--dry-run")
    #expect(refused.code == 2)
    #expect(refused.errors.contains("computes sigmoid(x) * x; Python code is never run"))
    #expect(refused.errors.contains("hint: convert formulas with --lambda auto\n"))
    let allowed = try Command.run("convert", network, "--custom-layers", "allow", "--dry-run")
    #expect(allowed.output.contains("custom"), "\(allowed.output)")
  }

  @Test func theDemonstrationAnswersAsKerasDid() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      // The options without the rules that follow them.
      let result = try Command.run(
        ["convert", DemonstrationTests.fixture + "/swish.h5", "-o", model, "--lambda", "auto"]
          + DemonstrationTests.options.dropLast(2))
      #expect(result.code == 0, "\(result.errors)")
      try expectNoCustomLayer(model)
      let difference = try Command.run(
        "diff", model, DemonstrationTests.picture, "--expected", DemonstrationTests.expected)
      #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
    }
  }

  @Test func theCustomFormAnswersTheSame() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let rules = folder + "/rules.json"
      let text = #"[{"class": "Lambda", "expression": "x * sigmoid(x)", "as": "custom"}]"#
      try Data(text.utf8).write(to: URL(filePath: rules))
      let result = try Command.run(
        ["convert", DemonstrationTests.fixture + "/swish.h5", "-o", model]
          + DemonstrationTests.options.dropLast(1) + [rules])
      #expect(result.code == 0, "\(result.errors)")
      let inspection = try Command.run("inspect", model)
      #expect(inspection.output.contains("Formula"), "\(inspection.output)")
      let difference = try Command.run(
        "diff", model, DemonstrationTests.picture, "--expected", DemonstrationTests.expected)
      #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
    }
  }

  /// Lambdas from the converter's corpus, with Keras's predictions.
  @Test(
    .shared("corpus/keras"),
    arguments: [
      "extra.custom_lambda_function__", "extra.custom_lambda_function_noflag__",
      "extra.custom_not_allowed__",
    ])
  func corpusLambdasAnswerAsKerasDid(_ prefix: String) throws {
    let shared = Shared.folder
    let corpus = shared + "/corpus/keras"
    let names = try FileManager.default.contentsOfDirectory(atPath: corpus)
    let name = try #require(names.sorted().first { $0.hasPrefix(prefix) })
    try withTemporaryFolder { folder in
      let model = folder + "/m.mlmodel"
      let result = try Command.run(
        "convert", "\(corpus)/\(name)/model.h5", "--lambda", "auto", "-o", model)
      #expect(result.code == 0, "\(result.errors)")
      try expectNoCustomLayer(model)
      let difference = try Command.run(
        "diff", model, "\(corpus)/\(name)/inputs.npz", "--expected",
        "\(corpus)/\(name)/expected.npz")
      #expect(difference.code == 0, "\(difference.output)\(difference.errors)")
    }
  }

  /// Lambdas from published models, written by Python 2.7 and 3.
  @Test(
    .shared("models/keras"),
    arguments: [
      ("dl4j/modelimport/keras/examples/lambda/sequential_lambda.h5", ["x ** 2", "3 * x"]),
      ("selfdriving/naokishibuya_model.h5", ["x / 127.5 - 1"]),
    ])
  func modelsLambdasAreRead(_ path: String, _ formulas: [String]) throws {
    let shared = Shared.folder
    let plan = try Command.run(
      "convert", "\(shared)/models/keras/\(path)", "--lambda", "auto", "--dry-run")
    #expect(plan.code == 0, "\(plan.errors)")
    for formula in formulas {
      #expect(plan.output.contains("Lambda, \(formula) "), "\(plan.output)")
    }
  }

  /// 2x + 1 as a custom class name without an implementation.
  @Test func aClassOfItsOwnRunsFromTheExpression() throws {
    try withTemporaryFolder { folder in
      func write(_ name: String, _ text: String) throws -> String {
        try writeFile(Array(text.utf8), to: "\(folder)/\(name)")
        return "\(folder)/\(name)"
      }
      let network = try write(
        "net.prototxt",
        """
        input: "data" input_shape { dim: 1 dim: 2 }
        layer { name: "line" type: "Line" bottom: "data" top: "line" }
        """)
      let rules = try write(
        "rules.json",
        #"[{"class": "Line", "expression": "a * x + 1", "as": "custom", "className": "MyLine", "#
          + #""parameters": {"a": 2}}]"#)
      let model = folder + "/m.mlmodel"
      let converted = try Command.run(
        "convert", network, "--custom-layers", rules, "-o", model)
      #expect(converted.code == 0, "\(converted.errors)")
      #expect(try Command.run("inspect", model).output.contains("MyLine"))
      let input = try write("x.csv", "3,-4\n")
      let run = try Command.run("run", model, input, "--json")
      #expect(run.output.contains("[7.0, -7.0]") || run.output.contains("[7, -7]"), "\(run)")
    }
  }
}
