import CoreMLModel
import TensorCore

/// What is known of an operation: its arguments, how it becomes layers, and what it does.
///
/// The layers decide the shapes of the results: the same rules that check a network give the shapes
/// that a program's statements are compared with.
package struct OperationRule: Sendable {
  package let name: String
  /// The names of the arguments that it takes.
  package let arguments: [String]
  /// Of these, those that it needs.
  package let required: [String]
  /// The formula, for the list of operations.
  package let summary: String
  let lower: @Sendable (OperationCall) throws -> [ProgramValue]

  /// - Parameter arguments: names between spaces; an optional one ends with a question mark.
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

/// Every operation that runs, by family.
package let operationRules: [OperationRule] = [
  activationRules, binaryRules, comparisonRules, unaryRules, reductionRules, convolutionRules,
  poolingRules, resizeRules, samplingRules, normalizationRules, linearRules, shapeRules,
  blockRules, slicingRules, joiningRules, gatherRules, orderingRules, detectionRules, randomRules,
  recurrentRules, controlRules, listRules, stateRules, quantizationRules, compressionRules,
].flatMap { $0 }

let operationRulesByName = Dictionary(
  operationRules.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

/// Whether operations with this name run.
package func runs(_ operation: String) -> Bool { operationRulesByName[operation] != nil }
