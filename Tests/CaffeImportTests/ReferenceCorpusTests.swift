import ByteFormats
import CoreMLModel
import Files
import HDF5Library
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// Our conversions beside those of coremltools 4.1, which stand in the reference corpus.
struct ReferenceCorpusTests {
  @Test(.shared("corpus/caffe"))
  func layersAreNamedAndOrderedAsInTheReference() throws {
    #expect(try compare(Shared.path("corpus/caffe")) > 50)
  }

  @Test func sampleIsNamedAndOrderedAsInTheReference() throws {
    #expect(try compare(Fixtures("corpus").path("caffe")) > 15)
  }

  /// How many of a folder's cases were compared.
  private func compare(_ corpus: String) throws -> Int {
    var compared = 0
    for name in fileNames(in: corpus) {
      let folder = "\(corpus)/\(name)"
      guard let meta = try? JSONValue(contentsOf: "\(folder)/meta.json"),
        meta["convert"]?.string == "ok",
        meta["reference_agrees_with_source"]?.array?[0] == .string("ok"),
        meta["convert_kwargs"]?.object?.names.isEmpty == true
      else { continue }
      let files = meta["model_arg"]?.array?.compactMap(\.string) ?? []
      let source = try CaffeImporter.load(
        "\(folder)/\(files.last ?? "")",
        weights: files.count > 1 ? "\(folder)/\(files[0])" : nil, access: .inProcess)
      guard let ours = try? CaffeImporter.convert(source).model else { continue }
      let theirs = try Model(contentsOf: "\(folder)/coremltools.mlmodel")
      func layers(_ model: Model) -> [String] {
        (model.neuralNetwork?.layers ?? []).map { layer in
          "\(layer.parameters.map { type(of: $0).typeName } ?? "") \(layer.name) "
            + "\(layer.input) \(layer.output)"
        }
      }
      // The reference leaves a batchnorm and the scale behind it apart.
      let isFused = theirs.neuralNetwork?.layers.contains { $0.parameters is Batchnorm } == true
      #expect(isFused || layers(ours) == layers(theirs), "\(name)")
      #expect(
        ours.description?.input.map(\.name) == theirs.description?.input.map(\.name), "\(name)")
      compared += 1
    }
    return compared
  }
}

extension JSONValue {
  fileprivate init(contentsOf path: String) throws {
    try self.init(parsing: fileBytes(path))
  }
}
