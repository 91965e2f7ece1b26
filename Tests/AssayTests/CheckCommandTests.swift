import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// Every command that reads a model reports all of its errors, and `check` also reports warnings.
@Suite struct CheckCommandTests {
  private static func dense() -> InnerProduct {
    var layer = InnerProduct()
    layer.inputChannels = 4
    layer.outputChannels = 2
    layer.matrix = Weights([1, 2, 3, 4, 5, 6, 7, 8])
    return layer
  }

  private static func model() -> Model {
    var network = NeuralNetwork()
    network.layers = [
      NeuralNetworkLayer("dense", dense(), input: ["in"], output: ["a"]),
      NeuralNetworkLayer("soft", Softmax(), input: ["a"], output: ["out"]),
    ]
    var model = Model()
    model.specificationVersion = 1
    model.type = .neuralNetwork(network)
    model.description?.input = [
      FeatureDescription(
        name: "in", kind: .multiArray(ArrayFeatureType(shape: [4], dataType: .double)))
    ]
    model.description?.output = [
      FeatureDescription(
        name: "out", kind: .multiArray(ArrayFeatureType(shape: [2], dataType: .double)))
    ]
    return model
  }

  /// A wrong number of weights, a missing blob, two layers with the same name, an unknown version.
  private static func wrong() -> Model {
    var model = model()
    var short = dense()
    short.matrix = Weights([1, 2, 3])
    model.specificationVersion = 11
    model.neuralNetwork?.layers[0].parameters = short
    model.neuralNetwork?.layers[1].name = "dense"
    model.neuralNetwork?.layers[1].input = ["nowhere"]
    return model
  }

  private static let faults = [
    "specificationVersion: specification version 11 is not supported",
    "layer 'dense' (innerProduct): weights: 3 values; 8 are needed",
    "layer 'dense' (softmax): name: another layer has the same name",
    "layer 'dense' (softmax): input: no earlier layer produces 'nowhere'",
  ]

  private func with(_ model: Model, _ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlmodel")
      try writeFile(Array("[1, 2, 3, 4]".utf8), to: folder + "/x.json")
      try body(folder)
    }
  }

  @Test(arguments: [
    ["inspect", "MODEL"], ["run", "MODEL", "x.json"], ["bench", "MODEL"],
    ["diff", "MODEL", "x.json", "--expected", "x.json"], ["diff", "MODEL", "MODEL"],
    ["compress", "MODEL", "--bits", "8", "-o", "out.mlmodel"],
    ["edit", "MODEL", "--author", "x", "-o", "out.mlmodel"],
    ["inspect", "MODEL", "--export-weights", "weights"],
  ])
  func readersSayAllAtOnce(_ arguments: [String]) throws {
    try with(Self.wrong()) { folder in
      let result = try Command.run(
        arguments.map { argument in
          argument == "MODEL"
            ? folder + "/m.mlmodel" : argument.contains(".") ? "\(folder)/\(argument)" : argument
        })
      #expect(result.code == 2, "\(result.errors)")
      for fault in Self.faults {
        #expect(
          result.errors.contains("error: \(folder)/m.mlmodel: \(fault)"), "\(result.errors)")
      }
      #expect(!fileExists(folder + "/out.mlmodel"))
    }
  }

  @Test func checkSaysThemToo() throws {
    try with(Self.wrong()) { folder in
      let result = try Command.run("check", folder + "/m.mlmodel")
      #expect(result.code == 2)
      #expect(result.output.hasPrefix("\(folder)/m.mlmodel: not valid, 4 errors\n"))
      for fault in Self.faults {
        #expect(result.output.contains("error: \(fault)\n"), "\(result.output)")
      }
    }
  }

  @Test func jsonHasTheParts() throws {
    try with(Self.wrong()) { folder in
      let result = try Command.run("check", folder + "/m.mlmodel", "--json")
      #expect(result.code == 2)
      let json = try #require(
        JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
      #expect(json["valid"] as? Bool == false)
      let errors = try #require(json["errors"] as? [[String: Any]])
      #expect(errors.count == 4)
      #expect(errors[1]["layer"] as? String == "dense")
      #expect(errors[1]["class"] as? String == "innerProduct")
      #expect(errors[1]["field"] as? String == "weights")
      #expect(errors[1]["message"] as? String == "3 values; 8 are needed")
      #expect((json["warnings"] as? [Any])?.isEmpty == true)
    }
  }

  @Test func aSoundModelHasNothing() throws {
    try with(Self.model()) { folder in
      let result = try Command.run("check", folder + "/m.mlmodel")
      #expect(result.code == 0 && result.output == "\(folder)/m.mlmodel: valid\n")
    }
  }

  @Test func whatIsNoModelIsAnError() throws {
    try withTemporaryFolder { folder in
      try writeFile(Array("no model".utf8), to: folder + "/m.mlmodel")
      let result = try Command.run("check", folder + "/m.mlmodel", "--json")
      #expect(result.code == 2 && result.output.hasPrefix("{\"valid\": false"))
      #expect(try Command.run("check", folder + "/absent.mlmodel").code == 66)
    }
  }

  struct Suspicion: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let change: @Sendable (inout Model) -> Void

    init(_ text: String, _ change: @escaping @Sendable (inout Model) -> Void) {
      testDescription = text
      self.change = change
    }
  }

  static let suspicions = [
    Suspicion("specificationVersion: 5, but 1 is enough") { $0.specificationVersion = 5 },
    Suspicion("layer 'dense' (innerProduct) needs 2: it has half-precision weights") { model in
      var layer = dense()
      layer.matrix = Weights()
      layer.matrix?.float16Value = Bytes([UInt8](repeating: 0x3C, count: 16))
      model.neuralNetwork?.layers[0].parameters = layer
    },
    Suspicion("layer 'dense' (innerProduct): weights: 1 of 8 values are NaN or infinite") { model in
      var layer = dense()
      layer.matrix = Weights([.nan, 2, 3, 4, 5, 6, 7, 8])
      model.neuralNetwork?.layers[0].parameters = layer
    },
    Suspicion("layer 'dense' (innerProduct): weights: all 8 values are 0") { model in
      var layer = dense()
      layer.matrix = Weights([Float](repeating: 0, count: 8))
      model.neuralNetwork?.layers[0].parameters = layer
    },
    Suspicion("layer 'idle' (softmax): output: no layer reads its outputs") { model in
      model.neuralNetwork?.layers.insert(
        NeuralNetworkLayer("idle", Softmax(), input: ["a"], output: ["unread"]), at: 1)
    },
    Suspicion("description.input.more: no layer reads it") { model in
      model.description?.input.append(
        FeatureDescription(
          name: "more", kind: .multiArray(ArrayFeatureType(shape: [1], dataType: .double))))
    },
    Suspicion("name: the layer has no name") { $0.neuralNetwork?.layers[1].name = "" },
    Suspicion("'a' comes from layer 'dense' (innerProduct): these are not probabilities") { model in
      var classifier = NeuralNetworkClassifier()
      classifier.network = model.neuralNetwork ?? NeuralNetwork()
      classifier.classLabels = .string(["x", "x"])
      classifier.labelProbabilityLayerName = "a"
      model.type = .neuralNetworkClassifier(classifier)
      model.description?.output[0].type?.kind = .string
      model.description?.predictedFeatureName = "out"
    },
    Suspicion("preprocessing[0].scaler.channelScale: 0") { model in
      var step = NeuralNetworkPreprocessing()
      step.featureName = "in"
      step.preprocessor = .scaler(NeuralNetworkImageScaler())
      model.neuralNetwork?.preprocessing = [step]
      model.neuralNetwork?.layers = [
        NeuralNetworkLayer("flat", Flatten(), input: ["in"], output: ["out"])
      ]
      model.description?.input[0].type?.kind = .image(
        ImageFeatureType(width: 1, height: 2, colorSpace: .grayscale))
    },
  ]

  /// Legal but probably unintended: Core ML's validator accepts it.
  @Test(arguments: suspicions) func warns(_ suspicion: Suspicion) throws {
    var model = Self.model()
    suspicion.change(&model)
    try with(model) { folder in
      let result = try Command.run("check", folder + "/m.mlmodel")
      #expect(result.code == 1, "\(result.output)\(result.errors)")
      #expect(result.output.contains(suspicion.testDescription), "\(result.output)")
      #expect(try AppleValidator.refusals(of: [folder + "/m.mlmodel"]) == [])
      #expect(try Command.run("inspect", folder + "/m.mlmodel").code == 0)
    }
  }

  @Test func theOnlyInputCannotBecomeOptional() throws {
    try with(Self.model()) { folder in
      let result = try Command.run(
        "edit", folder + "/m.mlmodel", "--optional", "in", "-o", folder + "/out.mlmodel")
      #expect(result.code == 2)
      #expect(
        result.errors.contains("description.input: the only input, 'in', is optional"),
        "\(result.errors)")
      #expect(!fileExists(folder + "/out.mlmodel"))
    }
  }

  /// An edit may fix an error.
  @Test func anEditMendsAVersion() throws {
    var model = Self.model()
    model.specificationVersion = 11
    try with(model) { folder in
      let result = try Command.run(
        "edit", folder + "/m.mlmodel", "--specification-version", "1", "-o", folder + "/out.mlmodel"
      )
      #expect(result.code == 0, "\(result.errors)")
      #expect(try Command.run("check", folder + "/out.mlmodel").code == 0)
    }
  }
}

/// `convert --max-spec`.
@Suite struct MaximumVersionTests {
  private let folder = packageRoot + "/Fixtures/keras/layers/tf2/up_sampling_bilinear"

  /// TensorFlow 2 samples at the centers of pixels, as Core ML's layer does since version 5; two
  /// convolutions do the same in version 1.
  @Test func lowersWhatItCan() throws {
    try withTemporaryFolder { scratch in
      let source = ["h5", "keras"].map { "\(folder).\($0)" }.first(where: fileExists)
      let model = scratch + "/m.mlmodel"
      let conversion = try Command.run(
        "convert", try #require(source), "--max-spec", "1", "-o", model)
      #expect(conversion.code == 0, "\(conversion.errors)")
      #expect(try Model(contentsOf: model).specificationVersion == 1)
      let diff = try Command.run(
        "diff", model, folder + ".inputs.npz", "--expected", folder + ".expected.npz", "--atol",
        "2e-5")
      #expect(diff.code == 0, "\(diff.output)\(diff.errors)")
      #expect(
        try Command.run("convert", try #require(source), "--max-spec", "5", "-o", model).code == 0)
      #expect(try Model(contentsOf: model).specificationVersion == 5)
    }
  }

  @Test func saysWhatItCannot() throws {
    let source = packageRoot + "/Fixtures/networks/keras3-functions.keras"
    try withTemporaryFolder { scratch in
      let result = try Command.run(
        "convert", source, "--max-spec", "3", "-o", scratch + "/m.mlmodel")
      #expect(result.code == 2)
      #expect(
        result.errors.contains("specificationVersion: the model cannot have version 3"),
        "\(result.errors)")
      #expect(result.errors.contains("(floor) needs version 4: it is of a type introduced in it"))
      #expect(!fileExists(scratch + "/m.mlmodel"))
      #expect(
        try Command.run("convert", source, "--max-spec", "11", "-o", scratch + "/m.mlmodel").code
          == 64)
    }
  }
}
