import ByteFormats
import HDF5Library
import Interpretation
import TensorCore
import TestSupport
import Testing

@testable import KerasInterpretation

/// The interpreter matches Keras 1, 2 and 3 for networks of one layer each, in HDF5 files and
/// archives.
@Suite struct LayerValueTests {
  struct Folder: CustomTestStringConvertible, Sendable {
    let name: String
    let ending: String
    /// The minimum number of its networks that are interpreted.
    let count: Int

    var testDescription: String { name }
  }

  @Test(arguments: [
    Folder(name: "keras/layers/tf2", ending: ".h5", count: 200),
    Folder(name: "keras/layers/k3", ending: ".keras", count: 130),
    Folder(name: "keras/layers/k3", ending: ".h5", count: 1),
    Folder(name: "keras/layers/keras1", ending: ".h5", count: 11),
  ])
  func values(_ folder: Folder) throws {
    let fixtures = Fixtures(folder.name)
    var count = 0
    for file in fixtures.names where file.hasSuffix(folder.ending) {
      let name = String(file.dropLast(folder.ending.count))
      do {
        try compare(name, fixtures.path(file), fixtures)
        count += 1
      } catch is InterpretationError {
        continue
      } catch {
        Issue.record("\(file): \(error)")
      }
    }
    #expect(count >= folder.count)
  }

  private func compare(_ name: String, _ path: String, _ fixtures: Fixtures) throws {
    let interpreter = try KerasInterpreter(path, access: .inProcess)
    let given = try arrays(fixtures.path(name + ".inputs.npz"))
    var inputs: [String: DoubleArray] = [:]
    for (index, input) in interpreter.inputs.enumerated() {
      inputs[input.name] = DoubleArray(try #require(given["input\(index + 1)"]))
    }
    let results = try interpreter.run(inputs)
    let expected = try arrays(fixtures.path(name + ".expected.npz"))
    for (index, output) in interpreter.outputNames.enumerated() {
      // The outputs in a dictionary are named after its keys, and sorted by them.
      let names = expected.keys.contains("output1") ? nil : expected.keys.sorted()
      let wanted = try #require(expected[names?[index] ?? "output\(index + 1)"])
      let result = try #require(results[output])
      guard result.shape == wanted.shape else {
        Issue.record("\(name): \(output) has the shape \(result.shape), not \(wanted.shape)")
        continue
      }
      let largest = wanted.elements.reduce(Float(1e-3)) { max($0, abs($1)) }
      let error = zip(result.values, wanted.elements).reduce(0.0) { error, pair in
        let difference = abs(pair.0 - Double(pair.1))
        return difference <= error ? error : difference
      }
      #expect(error <= 2e-5 * Double(largest), "\(name): \(output) differs by \(error)")
    }
  }

  private func arrays(_ path: String) throws -> [String: Tensor] {
    Dictionary(
      uniqueKeysWithValues: try ArraySet.read(path).arrays.map { ($0.name ?? "", $0.tensor) })
  }
}
