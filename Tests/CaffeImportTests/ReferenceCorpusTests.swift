import ByteFormats
import CoreMLModel
import Files
import HDF5Library
import ImportSupport
import TensorCore
import Testing

@testable import CaffeImport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Our conversions beside those of coremltools 4.1, which stand in the reference corpus.
struct ReferenceCorpusTests {
  @Test func layersAreNamedAndOrderedAsInTheReference() throws {
    guard let corpus = Fixture.shared("corpus/caffe") else { return }
    var compared = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: corpus).sorted() {
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
    #expect(compared > 50)
  }
}

extension JSONValue {
  fileprivate init(contentsOf path: String) throws {
    try self.init(parsing: MappedFile.read(path).array(of: UInt8.self))
  }
}
