import ByteFormats
import DarknetFormat
import Interpretation
import TensorCore
import TestSupport
import Testing

@testable import DarknetInterpretation

/// The interpreter in double precision matches Darknet's formulas in NumPy
/// (`Fixtures/darknet/reference.py`).
@Suite struct FrameworkValueTests {
  private static let fixtures = Fixtures("darknet/layers")

  /// Without `dropout_only`, whose result has no separate name in the script.
  private static let names: [String] = fixtures.names.filter { $0.hasSuffix(".expected.npz") }
    .map { String($0.dropLast(13)) }.filter { $0 != "dropout_only" }.sorted()

  @Test func networksAreThere() { #expect(Self.names.count >= 120) }

  @Test(arguments: names) func sections(_ name: String) throws {
    let weights = Self.fixtures.path("\(name).weights")
    let source = try DarknetSource.load(
      Self.fixtures.path("\(name).cfg"), weights: fileExists(weights) ? weights : nil)
    let interpreter = try DarknetInterpreter(source)
    let inputs = try ArraySet.read(Self.fixtures.path("\(name).inputs.npz")).arrays.map {
      ($0.name ?? "", DoubleArray($0.tensor))
    }
    let results = try interpreter.run(Dictionary(uniqueKeysWithValues: inputs))
    let expected = try ArraySet.read(Self.fixtures.path("\(name).expected.npz")).arrays
    #expect(Set(results.keys) == Set(expected.compactMap(\.name)))
    for array in expected {
      let result = try #require(results[array.name ?? ""])
      let values = array.tensor.elements
      #expect(result.shape.filter { $0 != 1 } == array.tensor.shape.filter { $0 != 1 })
      guard result.count == values.count else { continue }
      let largest = Double(values.reduce(1e-3) { max($0, abs($1)) })
      let different = zip(result.values, values).filter {
        !(abs($0 - Double($1)) <= 1e-6 * largest)
      }
      #expect(
        different.isEmpty,
        "\(array.name ?? ""): \(different.count) of \(values.count), \(different.prefix(3))")
    }
  }
}
