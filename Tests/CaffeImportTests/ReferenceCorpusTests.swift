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
  private static let isPresent = Fixture.shared("corpus/caffe") != nil

  /// A network that the reference converts, and computes as Caffe does.
  struct Network: CustomTestStringConvertible, Sendable {
    let folder: String
    /// The weights, where there are some, and the architecture.
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

    static let all: [Network] = {
      guard let corpus = Fixture.shared("corpus/caffe") else { return [] }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: corpus)) ?? []
      return names.sorted().compactMap { Network("\(corpus)/\($0)") }
    }()
  }

  @Test(.enabled(if: isPresent, "../shared/corpus/caffe is not there"))
  func thereAreSome() { #expect(Network.all.count > 50) }

  @Test(.enabled(if: isPresent, "../shared/corpus/caffe is not there"), arguments: Network.all)
  func layersAreNamedAndOrderedAsInTheReference(_ network: Network) throws {
    let (folder, files) = (network.folder, network.files)
    let source = try CaffeImporter.load(
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
    // The reference leaves a batchnorm and the scale behind it apart.
    let isFused = theirs.neuralNetwork?.layers.contains { $0.parameters is Batchnorm } == true
    #expect(isFused || layers(ours) == layers(theirs))
    #expect(ours.description?.input.map(\.name) == theirs.description?.input.map(\.name))
  }
}

extension JSONValue {
  fileprivate init(contentsOf path: String) throws {
    try self.init(parsing: MappedFile.read(path).array(of: UInt8.self))
  }
}
