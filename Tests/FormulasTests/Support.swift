import Foundation
import TestSupport
import Testing

@testable import Formulas

/// Formulas with what numpy answers, made by `Fixtures/formulas/make.py`.
struct FormulaFixture {
  var names: [String: FormulaArray] = [:]
  var cases: [(expression: String, value: FormulaArray)] = []

  var shapes: [String: [Int?]] { names.mapValues { $0.shape } }

  init() throws {
    struct Numbers: Decodable {
      let shape: [Int]
      let values: [Double]
      var array: FormulaArray { FormulaArray(shape, values) }
    }
    struct Case: Decodable {
      let expression: String
      let value: Numbers
    }
    struct File: Decodable {
      let names: [String: Numbers]
      let cases: [Case]
    }
    let file = try JSONDecoder().decode(
      File.self, from: Data(Fixtures("formulas").bytes("expressions.json")))
    names = file.names.mapValues(\.array)
    for entry in file.cases { cases.append((entry.expression, entry.value.array)) }
  }
}

extension FormulaArray {
  /// Relative to the largest value expected.
  func largestDifference(from expected: FormulaArray) -> Double {
    guard shape == expected.shape else { return .infinity }
    let largest = expected.elements.map { abs($0) }.max() ?? 0
    var worst = 0.0
    for (value, exact) in zip(elements, expected.elements) {
      let difference = abs(value - exact)
      worst = difference.isNaN ? .infinity : max(worst, difference)
    }
    return worst / max(1, largest)
  }
}
