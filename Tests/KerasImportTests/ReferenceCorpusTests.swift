import ByteFormats
import CoreMLModel
import Files
import HDF5Library
import HDF5Reader
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import KerasImport

/// Conversions compared with those of coremltools 4.1 in the reference corpus.
struct ReferenceCorpusTests {
  /// Cases with intentionally different layers: masks, which coremltools ignores, and permutes that
  /// cancel each other (`docs/differences.md`).
  private static let deliberate = [
    "embedding_mask_zero", "test_conv_batch_1d", "test_clickbait_cnn_half_precision",
  ]

  /// A network that coremltools converts correctly.
  struct Network: CustomTestStringConvertible, Sendable {
    let folder: String
    let arguments: JSONObject

    var testDescription: String { String(folder.split(separator: "/").last ?? "") }

    init?(_ folder: String) {
      guard let meta = try? JSONValue(contentsOf: "\(folder)/meta.json"),
        meta["convert"]?.string == "ok",
        meta["reference_agrees_with_source"]?.array?[0] == .string("ok"),
        let arguments = meta["convert_kwargs"]?.object, arguments["class_labels"] == nil,
        arguments["respect_trainable"] == nil
      else { return nil }
      self.folder = folder
      self.arguments = arguments
    }

    static func all(in corpus: String) -> [Network] {
      fileNames(in: corpus).compactMap { Network("\(corpus)/\($0)") }
    }
  }

  private static let sample = Network.all(in: Fixtures("corpus").path("keras"))
  private static let corpus = Network.all(in: Shared.path("corpus/keras"))

  @Test func thereIsASample() { #expect(Self.sample.count > 20) }

  @Test(arguments: sample)
  func sampleIsNamedAndOrderedAsInTheReference(_ network: Network) throws {
    try compare(network)
  }

  @Test(.shared("corpus/keras")) func corpusIsThere() { #expect(Self.corpus.count > 300) }

  @Test(.shared("corpus/keras"), arguments: corpus.sampled)
  func layersAreNamedAndOrderedAsInTheReference(_ network: Network) throws {
    try compare(network)
  }

  private func compare(_ network: Network) throws {
    let arguments = network.arguments
    var options = ConversionOptions()
    options.usesReferenceNames = true
    options.inputNames = names(arguments["input_names"])
    options.outputNames = names(arguments["output_names"])
    options.imageInputs = names(arguments["image_input_names"])
    for (feature, shape) in arguments["input_name_shape_dict"]?.object?.members ?? [] {
      options.inputShapes[feature] = shape.array?.map(\.int)
    }
    let source = try KerasSource.load("\(network.folder)/model.h5", access: .inProcess)
    let ours = try KerasImporter.convert(source, options: options).model
    let theirs = try Model(contentsOf: "\(network.folder)/coremltools.mlmodel")
    // Permutes have different names, and may be anywhere between the layers that they connect.
    func layers(_ model: Model) -> [String] {
      let all = model.neuralNetwork?.layers ?? []
      let others = all.filter { !($0.parameters is Permute) }
      return others.map { layer in
        "\(layer.parameters.map { type(of: $0).typeName } ?? "") \(layer.name)"
      } + ["\(all.count - others.count) permutes"]
    }
    let areSame = layers(ours) == layers(theirs)
    // With unbounded functions, the steps are unrolled, because Core ML's layers clip the states.
    let isClipped =
      theirs.neuralNetwork?.layers.contains { layer in
        layer.parameters?.clipsArguments == true
      } ?? false
    let isDeliberate =
      isClipped || Self.deliberate.contains(where: network.testDescription.contains)
    #expect(areSame != isDeliberate)
    #expect(ours.description?.input.map(\.name) == theirs.description?.input.map(\.name))
    #expect(
      ours.description?.input.map(\.type) == theirs.description?.input.map(\.type)
        || arguments["is_bgr"] != nil || arguments["use_float_arraytype"] != nil)
  }

  private func names(_ json: JSONValue?) -> [String] {
    json?.string.map { [$0] } ?? json?.array?.compactMap(\.string) ?? []
  }
}

extension JSONValue {
  fileprivate init(contentsOf path: String) throws {
    try self.init(parsing: fileBytes(path))
  }
}
