import Foundation
import TestSupport
import Testing

@testable import Assay

/// Core ML accepts the converted networks of the reference corpora. Models that commands write are
/// validated in every test that runs a command (`Command.run`).
@Suite struct AppleValidatorTests {
  /// The number of conversions per run of the validator.
  private static let batch = 32

  @Test(
    .shared("corpus", AppleValidator.name),
    arguments: ["caffe", "keras", "keras-variants", "keras1"], 0..<4)
  func takesTheCorpus(_ corpus: String, _ part: Int) throws {
    let folders = fileNames(in: Shared.path("corpus/\(corpus)"))
      .map { Shared.path("corpus/\(corpus)/\($0)") }
      .filter { fileExists($0 + "/meta.json") }
    #expect(folders.count > 20)
    let own = folders.indices.filter { $0 % 4 == part }.map { folders[$0] }.sampled
    for start in stride(from: 0, to: own.count, by: Self.batch) {
      try withTemporaryFolder { scratch in
        var written: [String] = []
        for folder in own[start..<min(own.count, start + Self.batch)] {
          let path = "\(scratch)/\(written.count).mlmodel"
          // Rejected networks produce no file; other tests check whether they should be rejected.
          guard let model = try? Self.converted(folder) else { continue }
          try model.write(to: path)
          written.append(path)
        }
        #expect(try AppleValidator.refusals(of: written) == [])
      }
    }
  }

  /// The validator rejects invalid models with a reason.
  @Test(.shared(AppleValidator.name)) func refusesWhatIsWrong() throws {
    try withTemporaryFolder { scratch in
      var model = try Model(contentsOf: Fixtures("seed").path("NeuralMcNeuralNet.mlmodel"))
      model.neuralNetwork?.layers[0].input = ["nowhere"]
      try model.write(to: scratch + "/wrong.mlmodel")
      let refusals = try AppleValidator.refusals(of: [scratch + "/wrong.mlmodel"])
      #expect(refusals.contains { $0.contains("nowhere") }, "\(refusals)")
    }
  }

  private static func converted(_ folder: String) throws -> Model {
    let meta = try JSONValue(parsing: fileBytes(folder + "/meta.json"))
    let arguments = meta["convert_kwargs"]?.object
    func names(_ name: String) -> [String] {
      let value = arguments?[name]
      return value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
    }
    var options = ConversionOptions()
    options.customLayers = .allow
    options.inputNames = names("input_names")
    options.outputNames = names("output_names")
    options.imageInputs = names("image_input_names")
    for (feature, shape) in arguments?["input_name_shape_dict"]?.object?.members ?? [] {
      options.inputShapes[feature] = shape.array?.map(\.int)
    }
    let labels = names("class_labels")
    if labels.count > 1 { options.classifier = ClassifierOptions(labels: .string(labels)) }
    options.respectTrainable = arguments?["respect_trainable"] != nil
    if arguments?["use_float_arraytype"] != nil { options.arrayType = .float32 }
    let files =
      fileExists(folder + "/model.h5")
      ? ["model.h5"] : meta["model_arg"]?.array?.compactMap(\.string).prefix(2).reversed() ?? []
    let source = try ModelSource(
      contentsOf: "\(folder)/\(files.first ?? "")",
      weights: files.count > 1 ? "\(folder)/\(files[1])" : nil)
    let model = try source.convert(options).model
    return arguments?["model_precision"] == nil ? model : try model.withHalfPrecisionWeights()
  }
}
