import CoreMLModel
import TensorCore

/// The description of an operation: its arguments, its conversion to layers, and its formula.
///
/// The layers determine the shapes of the results: the rules that validate a network also produce
/// the shapes that are compared with a program's declarations.
package struct OperationRule: Sendable {
  package let name: String
  /// The names of the arguments.
  package let arguments: [String]
  /// The required arguments.
  package let required: [String]
  /// The formula, for the documentation.
  package let summary: String
  let lower: @Sendable (OperationCall) throws -> [ProgramValue]

  /// - Parameter arguments: names separated by spaces; an optional one ends with a question mark.
  init(
    _ name: String, _ arguments: String, _ summary: String,
    _ lower: @escaping @Sendable (OperationCall) throws -> [ProgramValue]
  ) {
    let words = arguments.split(separator: " ").map(String.init)
    self.name = name
    self.arguments = words.map { $0.hasSuffix("?") ? String($0.dropLast()) : $0 }
    required = words.filter { !$0.hasSuffix("?") }
    self.summary = summary
    self.lower = lower
  }
}

/// Every supported operation, by family.
package let operationRules: [OperationRule] = [
  plainActivationRules, activationRules, binaryRules, comparisonRules, unaryRules, reductionRules,
  convolutionRules, poolingRules, resizeRules, samplingRules, normalizationRules, linearRules,
  shapeRules, blockRules, slicingRules, joiningRules, gatherRules, orderingRules, detectionRules,
  randomRules, recurrentRules, controlRules, listRules, stateRules, quantizationRules,
  compressionRules,
].flatMap { $0 }

let operationRulesByName = Dictionary(first: operationRules.map { ($0.name, $0) })

/// Whether operations with this name are supported.
package func runs(_ operation: String) -> Bool { operationRulesByName[operation] != nil }
