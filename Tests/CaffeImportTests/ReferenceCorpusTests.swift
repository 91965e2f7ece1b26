import ByteFormats
import CoreMLModel
import Files
import HDF5Library
import ImportSupport
import TensorCore
import TestSupport
import Testing

@testable import CaffeImport

/// Conversions compared with those of coremltools 4.1 in the reference corpus.
struct ReferenceCorpusTests {
  /// A network that coremltools converts correctly.
  struct Network: CustomTestStringConvertible, Sendable {
    let folder: String
    /// The weights, if any, and the architecture.
    let files: [String]

    var testDescription: String { String(folder.split(separator: "/").last ?? "") }

    init?(_ folder: String) {
      guard let meta = try? JSONValue(contentsOf: "\(folder)/meta.json"),
        meta["convert"]?.string == "ok",
        meta["reference_agrees_with_source"]?.array?[0] == .string("ok"),
        meta["convert_kwargs"]?.object?.names.isEmpty == true
      else { return nil }
      self.folder = folder
      files = meta["model_arg"]?.array?.compactMap(\.string) ?? []
    }

    static func all(in corpus: String) -> [Network] {
      fileNames(in: corpus).compactMap { Network("\(corpus)/\($0)") }
    }
  }

  private static let sample = Network.all(in: Fixtures("corpus").path("caffe"))
  private static let corpus = Network.all(in: Shared.path("corpus/caffe"))

  @Test func thereIsASample() { #expect(Self.sample.count > 15) }

  @Test(arguments: sample)
  func sampleIsNamedAndOrderedAsInTheReference(_ network: Network) throws {
    try compare(network)
  }

  @Test(.shared("corpus/caffe")) func corpusIsThere() { #expect(Self.corpus.count > 50) }

  @Test(.shared("corpus/caffe"), arguments: corpus.sampled)
  func layersAreNamedAndOrderedAsInTheReference(_ network: Network) throws {
    try compare(network)
  }

  private func compare(_ network: Network) throws {
    let (folder, files) = (network.folder, network.files)
    let source = try CaffeSource.load(
      "\(folder)/\(files.last ?? "")",
      weights: files.count > 1 ? "\(folder)/\(files[0])" : nil, access: .inProcess)
    let ours = try CaffeImporter.convert(source).model
    let theirs = try Model(contentsOf: "\(folder)/coremltools.mlmodel")
    func layers(_ model: Model) -> [String] {
      (model.neuralNetwork?.layers ?? []).map { layer in
        "\(layer.parameters.map { type(of: $0).typeName } ?? "") \(layer.name) "
          + "\(layer.input) \(layer.output)"
      }
    }
    // coremltools does not merge a batchnorm with the scale after it.
    let isFused = theirs.neuralNetwork?.layers.contains { $0.parameters is Batchnorm } == true
    #expect(isFused || layers(ours) == layers(theirs))
    #expect(ours.description?.input.map(\.name) == theirs.description?.input.map(\.name))
  }
}

extension JSONValue {
  fileprivate init(contentsOf path: String) throws {
    try self.init(parsing: fileBytes(path))
  }
}
