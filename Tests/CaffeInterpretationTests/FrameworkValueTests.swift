import ByteFormats
import CaffeFormat
import Foundation
import HDF5Library
import Interpretation
import TensorCore
import TestSupport
import Testing

@testable import CaffeInterpretation

/// The interpreter in double precision matches Caffe's outputs, or its formulas in NumPy
/// (`Fixtures/caffe/layers/make.py`).
@Suite struct FrameworkValueTests {
  struct Network: CustomTestStringConvertible, Sendable {
    let name: String
    /// The network's file, and that of its weights if separate.
    let files: [String]
    let inputs: String
    let expected: String

    var testDescription: String { name }

    /// The networks of `Fixtures/caffe/layers`; those without weights have only a text.
    static let fixtures: [Network] = {
      let folder = Fixtures("caffe/layers")
      let names = Set(folder.names)
      return names.filter { $0.hasSuffix(".expected.npz") }.map { String($0.dropLast(13)) }.sorted()
        .map { name in
          Network(
            name: name,
            files: ["\(name).prototxt", "\(name).caffemodel"].filter(names.contains)
              .map(folder.path),
            inputs: folder.path("\(name).inputs.npz"),
            expected: folder.path("\(name).expected.npz"))
        }
    }()

    /// Cases of the corpus with expected values that are not Caffe's. `layer_conv_axis2` has
    /// weights for axis 1, which Caffe refuses for axis 2; `layer_pool_stochastic` averages
    /// windows, but pooling_layer.cu divides Σx² by Σx.
    private static let wrong: Set<String> = ["layer_conv_axis2", "layer_pool_stochastic"]

    /// The networks of a corpus with Caffe's outputs.
    static func corpus(_ folder: String) -> [Network] {
      fileNames(in: folder).compactMap { name in
        let path = "\(folder)/\(name)"
        let meta = try? JSONSerialization.jsonObject(
          with: Data(fileBytes("\(path)/meta.json")))
        guard !wrong.contains(name), fileExists("\(path)/expected.npz"),
          let files = (meta as? [String: Any])?["model_arg"] as? [String]
        else { return nil }
        let arrays = ["network_inputs.npz", "inputs.npz"].map { "\(path)/\($0)" }
        return Network(
          name: name,
          files: files.filter { !$0.hasSuffix(".binaryproto") }.map { "\(path)/\($0)" },
          inputs: arrays.first(where: fileExists) ?? "", expected: "\(path)/expected.npz")
      }
    }
  }

  @Test func networksAreThere() {
    #expect(Network.fixtures.count >= 20)
    #expect(Network.corpus(Fixtures("corpus").path("caffe")).count > 15)
  }

  @Test(arguments: Network.fixtures) func layers(_ network: Network) throws {
    try compare(network)
  }

  @Test(arguments: Network.corpus(Fixtures("corpus").path("caffe")))
  func sample(_ network: Network) throws { try compare(network) }

  @Test(.shared("corpus/caffe"), arguments: Network.corpus(Shared.path("corpus/caffe")).sampled)
  func corpus(_ network: Network) throws { try compare(network) }

  private func compare(_ network: Network) throws {
    let source = try CaffeSource.load(
      network.files[0], weights: network.files.dropFirst().first, access: .inProcess)
    let interpreter = try CaffeInterpreter(source)
    let arrays = try ArraySet.read(network.inputs).arrays
    let inputs = arrays.map { (Self.blob($0), DoubleArray($0.tensor)) }
    let results = try interpreter.run(Dictionary(uniqueKeysWithValues: inputs))
    let expected = Dictionary(
      uniqueKeysWithValues: try ArraySet.read(network.expected).arrays.map {
        (Self.blob($0), $0.tensor)
      })
    // In Caffe, the regions in the detectors' fixtures are not outputs.
    #expect(Set(results.keys) == Set(expected.keys).subtracting(["rois"]))
    for (name, result) in results {
      let expected = try #require(expected[name], "\(name)")
      #expect(result.shape == expected.shape, "\(name)")
      guard result.count == expected.count else { continue }
      // The largest finite value, excluding Caffe's smallest float, which marks a missing value.
      let finite = expected.elements.filter { $0.isFinite && abs($0) < 1e38 }
      let largest = finite.reduce(Float(1e-3)) { max($0, abs($1)) }
      let different = zip(result.values, expected.elements).filter { actual, expected in
        if actual.isNaN && expected.isNaN || Float(actual) == expected { return false }
        return !(abs(actual - Double(expected)) <= 1e-5 * Double(largest))
      }
      #expect(
        different.isEmpty,
        "\(name): \(different.count) of \(result.count): \(different.prefix(3))")
    }
  }

  private static func blob(_ array: NamedArray) -> String {
    (array.name ?? "").replacingOccurrences(of: "__SLASH__", with: "/")
  }
}
