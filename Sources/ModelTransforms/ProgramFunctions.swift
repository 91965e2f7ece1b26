import CoreMLModel
import TensorCore

/// Changes to the functions of an ML Program, applied in this order.
package struct FunctionEdit: Sendable, Equatable {
  /// New names by old ones.
  package var renames: [String: String] = [:]
  package var removed: [String] = []
  /// The function that runs if no name is given.
  package var standard: String?
  /// The only function to keep.
  package var kept: String?

  package init() {}
}

extension Model {
  /// The program with its functions edited. Weights that no function uses anymore are removed.
  ///
  /// - Throws: `.mismatch` if the model is not a program, or has no such function.
  package func editingFunctions(_ edit: FunctionEdit) throws -> Model {
    if edit == FunctionEdit() { return self }
    guard case .mlProgram(var program)? = type, var description else {
      throw ModelError(.mismatch, "the model has no functions, which only ML Programs have")
    }
    func index(_ name: String) throws -> Int {
      return try program.functions.firstIndex(where: { $0.key == name }).orThrow(
        ModelError(
          .mismatch, "the program has no function '\(name)'",
          hint: "its functions are "
            + program.functions.map { "'\($0.key)'" }.joined(separator: ", ")))
    }
    for (old, new) in edit.renames.sorted(by: { $0.key < $1.key }) {
      let position = try index(old)
      try MILProgram.requireIdentifier(new)
      try require(
        !program.functions.contains { $0.key == new }, .mismatch,
        "the program has a function '\(new)' already")
      if description.programFunction == old { description.defaultFunctionName = new }
      program.functions[position].key = new
      for position in description.functions.indices
      where description.functions[position].name == old {
        description.functions[position].name = new
      }
    }
    if let name = edit.standard {
      _ = try index(name)
      try require(
        description.functions.contains { $0.name == name } || name == description.programFunction,
        .mismatch, "the model does not describe the function '\(name)'")
      description.defaultFunctionName = name
    }
    var removed = edit.removed
    if let name = edit.kept {
      _ = try index(name)
      if description.functions.contains(where: { $0.name == name }) {
        description.defaultFunctionName = name
      }
      removed += program.functions.map(\.key).filter { $0 != name }
    }
    for name in removed {
      let position = try index(name)
      try require(
        name != description.programFunction, .mismatch,
        "'\(name)' is the function that runs by default",
        hint: "make another one the default with \(setting: "defaultFunction")")
      program.functions.remove(at: position)
      description.functions.removeAll { $0.name == name }
    }
    if !removed.isEmpty { program = try program.withoutUnusedWeights() }
    var model = self
    model.description = description
    model.type = .mlProgram(program)
    return model
  }

  /// The model with its interface also stored as that of the program's default function. The only
  /// function of a program is `main` and has no separate interface.
  package func storingFunctionInterface() throws -> Model {
    guard case .mlProgram(var program)? = type, var description,
      let position = description.functions.firstIndex(where: {
        $0.name == description.programFunction
      }
      )
    else { return self }
    if program.functions.count == 1 {
      program.functions[0].key = "main"
      description.functions = []
      description.defaultFunctionName = ""
    } else {
      description.functions[position].input = description.input
      description.functions[position].output = description.output
      description.functions[position].state = description.state
      description.functions[position].predictedFeatureName = description.predictedFeatureName
      description.functions[position].predictedProbabilitiesName =
        description.predictedProbabilitiesName
    }
    var model = self
    model.description = description
    model.type = .mlProgram(program)
    return model
  }

  /// The model as stored in the format: if a program has several functions, its interface is only
  /// among the interfaces of the functions.
  package var withoutCopiedInterface: Model {
    guard case .mlProgram? = type, var description, !description.functions.isEmpty else {
      return self
    }
    (description.input, description.output, description.state) = ([], [], [])
    (description.predictedFeatureName, description.predictedProbabilitiesName) = ("", "")
    var model = self
    model.description = description
    return model
  }
}

extension MILProgram {
  /// The name with `_` for all characters that names of values and functions cannot contain: they
  /// have letters, digits and underscores, and no digit first.
  package static func identifier(_ name: String) -> String {
    let letters = name.utf8.map { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        ? byte : UInt8(ascii: "_")
    }
    let isComplete = letters.first.map { !(48...57).contains($0) } ?? false
    return (isComplete ? "" : "_") + String(decoding: letters, as: UTF8.self)
  }

  /// - Throws: `.mismatch` if a value or function cannot have the name.
  package static func requireIdentifier(_ name: String) throws {
    try require(
      identifier(name) == name, .mismatch, "an ML Program cannot have the name '\(name)'",
      hint: "use letters, digits and underscores, and no digit first")
  }

  /// The program with one weight file, which only contains what the program's values refer to.
  func withoutUnusedWeights() throws -> MILProgram {
    guard let name = weightFiles.keys.min() else { return self }
    var writer = MILWeightFileWriter()
    var program = self
    for index in program.functions.indices {
      try program.functions[index].value?.editBodies { body in
        try body.editOperations { operation in
          try operation.mapValues { value in
            guard case .file = value.content else { return value }
            let elements = try MILElements(value, files: weightFiles)
            guard let bytes = elements.bytes else { return value }
            let offset = try writer.append(bytes, elements.type, count: elements.count)
            return MILValue(elements.type, elements.shape, file: name, offset: offset)
          }
        }
      }
    }
    program.weightFiles = writer.isEmpty ? [:] : [name: try writer.file()]
    return program
  }
}

extension MILFunction {
  mutating func editBodies(_ edit: (inout MILBlock) throws -> Void) rethrows {
    for index in specializations.indices {
      guard var body = specializations[index].value else { continue }
      try edit(&body)
      specializations[index].value = body
    }
  }
}

extension MILBlock {
  /// Edits all operations, including those in nested blocks.
  mutating func editOperations(_ edit: (inout MILOperation) throws -> Void) rethrows {
    for index in operations.indices {
      try edit(&operations[index])
      for position in operations[index].blocks.indices {
        try operations[index].blocks[position].editOperations(edit)
      }
    }
  }
}
