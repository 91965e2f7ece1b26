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

/// Our conversions beside those of coremltools 4.1, which stand in the reference corpus.
struct ReferenceCorpusTests {
  /// Cases whose layers differ on purpose: masks, which the reference leaves out, and permutes that
  /// undo each other (`docs/differences.md`).
  private static let deliberate = [
    "embedding_mask_zero", "test_conv_batch_1d", "test_clickbait_cnn_half_precision",
  ]

  @Test(.shared("corpus/keras"))
  func layersAreNamedAndOrderedAsInTheReference() throws {
    #expect(try compare(Shared.path("corpus/keras")) > 100)
  }

  @Test func sampleIsNamedAndOrderedAsInTheReference() throws {
    #expect(try compare(Fixtures("corpus").path("keras")) > 20)
  }

  /// How many of a folder's cases were compared.
  private func compare(_ corpus: String) throws -> Int {
    var compared = 0
    for name in fileNames(in: corpus) {
      let folder = "\(corpus)/\(name)"
      guard let meta = try? JSONValue(contentsOf: "\(folder)/meta.json"),
        meta["convert"]?.string == "ok",
        meta["reference_agrees_with_source"]?.array?[0] == .string("ok"),
        let arguments = meta["convert_kwargs"]?.object, arguments["class_labels"] == nil,
        arguments["respect_trainable"] == nil
      else { continue }
      var options = ConversionOptions()
      options.inputNames = names(arguments["input_names"])
      options.outputNames = names(arguments["output_names"])
      options.imageInputs = names(arguments["image_input_names"])
      for (feature, shape) in arguments["input_name_shape_dict"]?.object?.members ?? [] {
        options.inputShapes[feature] = shape.array?.map(\.int)
      }
      let source = try KerasImporter.load("\(folder)/model.h5", access: .inProcess)
      guard let ours = try? KerasImporter.convert(source, options: options).model else { continue }
      let theirs = try Model(contentsOf: "\(folder)/coremltools.mlmodel")
      // Permutes have other names, and may stand anywhere between what they connect.
      func layers(_ model: Model) -> [String] {
        let all = model.neuralNetwork?.layers ?? []
        let others = all.filter { !($0.parameters is Permute) }
        return others.map { layer in
          "\(layer.parameters.map { type(of: $0).typeName } ?? "") \(layer.name)"
        } + ["\(all.count - others.count) permutes"]
      }
      let areSame = layers(ours) == layers(theirs)
      #expect(areSame != Self.deliberate.contains(where: name.contains), "\(name)")
      #expect(
        ours.description?.input.map(\.name) == theirs.description?.input.map(\.name), "\(name)")
      #expect(
        ours.description?.input.map(\.type) == theirs.description?.input.map(\.type)
          || arguments["is_bgr"] != nil || arguments["use_float_arraytype"] != nil, "\(name)")
      compared += 1
    }
    return compared
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
