import CoreMLModel
import TensorCore

/// An operation of a program with constant arguments, whatever it becomes.
package protocol OperationArguments {
  /// The elements of an argument that must be constant; nil if it is missing.
  func elements(_ name: String) throws -> MILElements?
  func ints(_ name: String) throws -> [Int]?
}

extension OperationArguments {
  package func floats(_ name: String) throws -> [Float]? {
    try inArgument(name) { try elements(name)?.floats() }
  }

  package func float(_ name: String, _ missing: Float) throws -> Float {
    try floats(name)?.first ?? missing
  }

  package func bool(_ name: String, _ missing: Bool = false) throws -> Bool {
    try ints(name)?.first.map { $0 != 0 } ?? missing
  }

  package func flags(_ name: String, count: Int) throws -> [Bool] {
    let flags = try ints(name)?.map { $0 != 0 } ?? [Bool](repeating: false, count: count)
    try require(flags.count == count, "\(flags.count) flags; \(count) are needed", field: name)
    return flags
  }

  package func string(_ name: String, _ missing: String) throws -> String {
    try elements(name)?.string ?? missing
  }

  /// Adds the argument's name to errors without a field.
  package func inArgument<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    do { return try body() } catch var error as ModelError {
      error.field = error.field ?? name
      throw error
    }
  }
}
