import ByteFormats
import Foundation
import HDF5Library
import Interpretation
import TensorCore
import TestSupport
import Testing

@testable import KerasInterpretation

/// The interpreter in double precision gives what Keras gave.
@Suite struct FrameworkValueTests {
  struct Network: CustomTestStringConvertible, Sendable {
    let folder: String
    var testDescription: String { String(folder.split(separator: "/").last ?? "") }

    static let all: [Network] = ["keras", "keras-variants", "keras1"].flatMap { corpus in
      let path = Shared.path("corpus/\(corpus)")
      return fileNames(in: path).map { Network(folder: "\(path)/\($0)") }
        .filter { fileExists("\($0.folder)/expected.npz") }
    }

    /// Input or output names in the order of the model.
    func order(_ field: String) throws -> [String] {
      let meta = try JSONValue(parsing: fileBytes("\(folder)/meta.json"))
      return meta[field]?.array?.compactMap(\.string) ?? []
    }
  }

  @Test(.shared("corpus/keras"), arguments: Network.all)
  func corpus(_ network: Network) throws {
    let interpreter = try KerasInterpreter("\(network.folder)/model.h5", access: .inProcess)
    let given = try arrays("\(network.folder)/inputs.npz")
    let names = try network.order("input_order")
    try #require(names.count == interpreter.inputs.count)
    var inputs: [String: DoubleArray] = [:]
    for (name, input) in zip(names, interpreter.inputs) {
      inputs[input.name] = DoubleArray(try #require(given[name]))
    }
    let results: [String: DoubleArray]
    do {
      results = try interpreter.run(inputs)
    } catch let error as InterpretationError
      where Self.notInterpreted.contains(error.layerClass)
    {
      return
    }
    let expected = try arrays("\(network.folder)/expected.npz")
    for (name, output) in zip(try network.order("output_order"), interpreter.outputNames) {
      let wanted = try #require(expected[name])
      let result = try #require(results[output])
      #expect(result.shape == wanted.shape)
      guard result.count == wanted.count else { continue }
      let largest = wanted.elements.reduce(Float(1e-3)) { max($0, abs($1)) }
      let different = zip(result.values, wanted.elements).filter { actual, expected in
        if actual.isNaN && expected.isNaN || Float(actual) == expected { return false }
        return !(abs(actual - Double(expected)) <= 1e-5 * Double(largest))
      }
      #expect(
        different.isEmpty,
        "\(output): \(different.count) of \(result.count): \(different.prefix(3))")
    }
  }

  /// Classes of the corpus that the interpreter lacks.
  private static let notInterpreted: Set<String> = ["Lambda"]

  private func arrays(_ path: String) throws -> [String: Tensor] {
    Dictionary(
      uniqueKeysWithValues: try ArraySet.read(path).arrays.map { ($0.name ?? "", $0.tensor) })
  }
}
