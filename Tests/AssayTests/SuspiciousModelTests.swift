import ByteFormats
import CoreMLModel
import Foundation
import TensorCore
import TestSupport
import Testing

/// Parts of a model that Core ML accepts although they are unused or contradict it: `check` lists
/// them, and other commands name unused ones.
@Suite struct SuspiciousModelTests {
  private func run(_ command: String, _ model: Model) throws -> Command.Result {
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlmodel")
      try writeFile(Array("[1, 2, 3, 4]".utf8), to: folder + "/x.json")
      return try Command.run(
        [command, folder + "/m.mlmodel"] + (command == "run" ? [folder + "/x.json"] : []))
    }
  }

  /// Only axes of length 1 may differ.
  @Test func aDescriptionThatContradictsTheNetworkIsNamed() throws {
    let check = try run("check", denseModel(declared: [7]))
    #expect(
      check.code == 1
        && check.output.contains(
          "description.output.y: it declares the shape [7], but the network gives [3]\n"),
      "\(check.output)")
    let fits = try run("check", denseModel(declared: [1, 3, 1]))
    #expect(!fits.output.contains("declares"), "\(fits.output)")
  }

  @Test func aProgramsDescriptionIsComparedToo() throws {
    var model = try Model(contentsOf: Fixtures("programs").path("binary.mlpackage"))
    model.description?.output[0].type?.kind = .multiArray(
      ArrayFeatureType(shape: [7, 11, 13], dataType: .float32))
    try withTemporaryFolder { folder in
      try model.write(to: folder + "/m.mlpackage")
      let check = try Command.run("check", folder + "/m.mlpackage")
      #expect(
        check.output.contains("it declares the shape [7, 11, 13], but the function 'main' gives ["),
        "\(check.output)")
    }
  }

  @Test func preprocessingOfNoInputIsNamed() throws {
    var step = NeuralNetworkPreprocessing()
    step.featureName = "nosuch"
    step.preprocessor = .scaler(NeuralNetworkImageScaler())
    var model = denseModel()
    model.neuralNetwork?.preprocessing = [step]
    let text = "preprocessing[0]: input 'nosuch' does not exist\n"
    for command in [["run"], ["check"], ["diff", "--seed", "1"]] {
      let result = try withTemporaryFolder { folder in
        try model.write(to: folder + "/m.mlmodel")
        try writeFile(Array("[1, 2, 3, 4]".utf8), to: folder + "/x.json")
        let words = command[0] == "run" ? [folder + "/x.json"] : []
        let other = command[0] == "diff" ? [folder + "/m.mlmodel"] + command.dropFirst() : []
        return try Command.run([command[0], folder + "/m.mlmodel"] + words + other)
      }
      #expect((result.output + result.errors).contains(text), "\(command): \(result.errors)")
    }
  }

  @Test func unknownFieldsAreNamedWhereTheyAre() throws {
    func unknown(_ number: UInt32) -> UnknownFields {
      var fields = UnknownFields()
      fields.fields = [
        UnknownFields.Field(number: number, wireType: 2, payload: Bytes(Array("evil".utf8)))
      ]
      return fields
    }
    var model = denseModel()
    model.neuralNetwork?.layers[0].unknownFields = unknown(99_990)
    model.description?.input[0].unknownFields = unknown(99_991)
    model.unknownFields = unknown(99_992)
    let places = [
      "description.input[0].field 99991", "layer 'd' (innerProduct): field 99990", "field 99992",
    ]
    var pipeline = Pipeline()
    pipeline.models = [model]
    pipeline.names = ["first"]
    var outer = model
    outer.unknownFields = UnknownFields()
    outer.description?.input[0].unknownFields = UnknownFields()
    outer.type = .pipeline(pipeline)
    for (model, layer) in [(model, "layer 'd'"), (outer, "layer 'first/d'")] {
      let run = try self.run("run", model)
      let check = try self.run("check", model)
      for place in places {
        let text =
          place.components(separatedBy: "layer 'd'").joined(separator: layer)
          + ": it is unknown to this version of Assay, and ignored\n"
        #expect(run.errors.contains(text), "\(run.errors)")
        #expect(check.output.contains(text), "\(check.output)")
      }
    }
  }
}
