import ByteFormats
import Foundation
import HDF5Library
import Interpretation
import TensorCore
import TestSupport
import Testing

@testable import KerasInterpretation

/// The interpreter in double precision matches Keras's outputs.
@Suite struct FrameworkValueTests {
  struct Network: CustomTestStringConvertible, Sendable {
    let folder: String
    var testDescription: String { String(folder.split(separator: "/").last ?? "") }

    static let all = cases.filter { !$0.hasCode }
    /// Networks with their author's code, which the interpreter does not run.
    static let withCode = cases.filter(\.hasCode)

    private var hasCode: Bool {
      (try? meta["layers"]?.array?.contains { $0.string == "Lambda" }) == true
    }

    private static let cases: [Network] = ["keras", "keras-variants", "keras1"].flatMap { corpus in
      let path = Shared.path("corpus/\(corpus)")
      return fileNames(in: path).map { Network(folder: "\(path)/\($0)") }
        .filter { fileExists("\($0.folder)/expected.npz") }
    }

    private var meta: JSONValue {
      get throws { try JSONValue(parsing: fileBytes("\(folder)/meta.json")) }
    }

    /// Input or output names in the model's order; by default `input1`, `input2`, ….
    func order(_ field: String, _ arrays: [String: Tensor]) throws -> [String] {
      let names = try meta[field]?.array?.compactMap(\.string) ?? []
      return names.isEmpty ? arrays.keys.sorted() : names
    }

    /// Images are stored as RGB before the scale and the biases of the conversion; the expected
    /// values are Keras's after these.
    func preprocessed(_ image: DoubleArray, _ name: String) throws -> DoubleArray {
      let request = try meta["convert_kwargs"] ?? .null
      let images = request["image_input_names"]
      guard images?.string == name || images?.array?.contains(where: { $0.string == name }) == true
      else { return image }
      func setting(_ field: String, _ standard: Double) -> Double {
        let value = request[field]
        return (value?.object == nil ? value : value?[name])?.double ?? standard
      }
      let isBGR = (request["is_bgr"]?.object == nil ? request["is_bgr"] : request["is_bgr"]?[name])?
        .bool
      let channels = image.shape.last ?? 1
      let colors = channels == 1 ? ["gray"] : ["red", "green", "blue"]
      var result = image
      for index in image.values.indices {
        let place = index % channels
        let color = isBGR == true ? channels - 1 - place : place
        result.values[index] =
          image.values[index - place + color] * setting("image_scale", 1)
          + setting("\(colors[color])_bias", 0)
      }
      return result
    }
  }

  @Test(.shared("corpus/keras"), arguments: Network.all.sampled)
  func corpus(_ network: Network) throws {
    let interpreter = try KerasInterpreter("\(network.folder)/model.h5", access: .inProcess)
    let given = try arrays("\(network.folder)/inputs.npz")
    let names = try network.order("input_order", given)
    try #require(names.count == interpreter.inputs.count)
    var inputs: [String: DoubleArray] = [:]
    for (name, input) in zip(names, interpreter.inputs) {
      inputs[input.name] = try network.preprocessed(DoubleArray(try #require(given[name])), name)
    }
    let results = try interpreter.run(inputs)
    let expected = try arrays("\(network.folder)/expected.npz")
    for (name, output) in zip(try network.order("output_order", expected), interpreter.outputNames)
    {
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

  @Test(
    .disabled("the interpreter does not run the code of Lambda layers"),
    arguments: Network.withCode)
  func withCode(_ network: Network) throws {
    try corpus(network)
  }

  private func arrays(_ path: String) throws -> [String: Tensor] {
    Dictionary(
      uniqueKeysWithValues: try ArraySet.read(path).arrays.map { ($0.name ?? "", $0.tensor) })
  }
}
