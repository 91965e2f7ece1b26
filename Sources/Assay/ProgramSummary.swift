import CoreMLModel
import MILImport

/// The contents of an ML Program that `inspect` shows.
package struct ProgramSummary: Sendable {
  package struct Function: Sendable {
    package var name: String
    /// The operation set, such as `CoreML7`.
    package var opset: String
    /// The names and types of inputs and outputs.
    package var inputs: [(name: String, type: String)]
    package var outputs: [(name: String, type: String)]
    /// Each kind of operation except constants, most frequent first.
    package var operations: [Kind]
    package var constants: Int
  }

  /// One kind of operation.
  package struct Kind: Sendable {
    package var name: String
    package var count: Int
    /// Whether it is supported.
    package var runs: Bool
  }

  package var functions: [Function]

  /// Nil for a model that is not a program.
  package init?(_ model: Model) {
    guard case .mlProgram(let program)? = model.type else { return nil }
    functions = program.functions.map { entry in
      let function = entry.value ?? MILFunction()
      var counts: [String: Int] = [:]
      var types: [String: String] = [:]
      for input in function.inputs { types[input.name] = ProgramText.type(input.type) }
      function.body?.count(&counts, &types)
      let constants = counts.removeValue(forKey: "const") ?? 0
      return Function(
        name: entry.key, opset: function.opset,
        inputs: function.inputs.map { ($0.name, types[$0.name] ?? "") },
        outputs: (function.body?.outputs ?? []).map { ($0, types[$0] ?? "") },
        operations: counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
          Kind(name: $0.key, count: $0.value, runs: MILImport.runs($0.key))
        }, constants: constants)
    }
  }
}

extension MILBlock {
  /// Counts operations by name, and records the types of their results.
  fileprivate func count(_ counts: inout [String: Int], _ types: inout [String: String]) {
    for operation in operations {
      counts[operation.type, default: 0] += 1
      for output in operation.outputs { types[output.name] = ProgramText.type(output.type) }
      for block in operation.blocks { block.count(&counts, &types) }
    }
  }
}

extension Model {
  /// The operations of an ML Program as text; nil for another model.
  package var programText: String? {
    guard case .mlProgram(let program)? = type else { return nil }
    return ProgramText(program).text
  }
}
