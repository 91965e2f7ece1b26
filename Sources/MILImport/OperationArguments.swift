import CoreMLModel
import TensorCore

/// An operation of a program with constant arguments, whatever it becomes.
package protocol OperationArguments {
  var operation: MILOperation { get }
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

  /// The type that an argument names.
  package func dataType(_ name: String, _ missing: MILDataType) throws -> MILDataType {
    guard let text = try elements(name)?.string else { return missing }
    return try MILDataType.allCases.first(where: { $0.name == text }).orThrow(
      ModelError(.unsupported, "type '\(text)' is not supported", field: name))
  }

  /// The two blocks of a branch or a loop.
  package func blocks() throws -> (MILBlock, MILBlock) {
    try require(operation.blocks.count == 2, "\(operation.blocks.count) blocks; two are needed")
    return (operation.blocks[0], operation.blocks[1])
  }

  /// Amounts before and after each axis of an array of this rank, from those of the last axes.
  package func padding(rank: Int) throws -> [Int] {
    let pad = try ints("pad") ?? []
    try require(
      pad.count % 2 == 0 && pad.count <= 2 * rank
        && pad.allSatisfy { $0 >= 0 && $0 <= Limits.dimension },
      "\(pad) for an input of rank \(rank)", field: "pad")
    return [Int](repeating: 0, count: 2 * rank - pad.count) + pad
  }

  /// Amounts at the top, bottom, left and right.
  package func cropping() throws -> [Int] {
    let edges = try (ints("crop_height") ?? []) + (ints("crop_width") ?? [])
    try require(edges.count == 4, "\(edges); two amounts each are needed", field: "crop_height")
    return edges
  }

  package func missing(_ name: String) -> ModelError {
    ModelError(.malformed, "the argument is missing", field: name)
  }
}

/// Adds the argument's name to errors without a field.
package func inArgument<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch var error as ModelError {
    error.field = error.field ?? name
    throw error
  }
}
