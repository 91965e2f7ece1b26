import CoreMLModel
import TensorCore

extension Model {
  /// Edits the function whose interface the model has.
  private func editingFunction(_ edit: (inout MILFunction) throws -> Void) throws -> Model {
    guard case .mlProgram(var program)? = type else { return self }
    let name = description?.programFunction ?? "main"
    for index in program.functions.indices where program.functions[index].key == name {
      guard var function = program.functions[index].value else { continue }
      try edit(&function)
      program.functions[index].value = function
    }
    var model = self
    model.type = .mlProgram(program)
    return model
  }

  // MARK: - Names

  /// The program with values renamed in the function whose interface the model has.
  ///
  /// - Throws: `.mismatch` for names that are not identifiers.
  func renamingProgramValues(_ names: [String: String]) throws -> Model {
    for name in names.values.sorted() { try MILProgram.requireIdentifier(name) }
    return try editingFunction { function in
      var pool = NamePool(function.valueNames.union(names.values))
      var all = names
      // Other values with one of the new names are renamed as well.
      for name in names.values.sorted()
      where names[name] == nil && function.valueNames.contains(name) { all[name] = pool.take(name) }
      function.renameValues(all)
    }
  }

  // MARK: - Outputs

  /// The program with one of its values as an additional output.
  ///
  /// - Throws: `.mismatch` if no operation outside of blocks produces the value; `.unsupported` if
  ///   it is not an array of numbers.
  func addingProgramOutput(_ name: String) throws -> Model {
    try require(!featureNames.contains(name), .mismatch, "'\(name)' is already a feature")
    var array = ArrayFeatureType()
    var model = try editingFunction { function in
      try function.editBodies { body in
        guard let given = body.operations.last(where: { $0.outputs.contains { $0.name == name } }),
          given.type != "const"
        else {
          throw ModelError(
            .mismatch, "no operation of the program gives '\(name)'",
            hint: "`assay inspect` prints them with \(setting: "spec")")
        }
        guard let tensor = given.outputs.first(where: { $0.name == name })?.type?.tensor,
          tensor.dataType != .string
        else { throw ModelError(.unsupported, "'\(name)' is not an array of numbers") }
        // If a size is unknown until the program runs, the shape is not specified.
        array.shape = tensor.shape ?? []
        array.dataType = outputType(of: tensor.dataType)
        body.outputs.append(name)
      }
    }
    model.description?.output.append(FeatureDescription(name: name, kind: .multiArray(array)))
    return try model.convertingProgramFeatures()
  }

  /// The type of an output array for values of this type.
  private func outputType(of type: MILDataType) -> ArrayFeatureType.DataType {
    switch type {
    case .float16 where specificationVersion >= 7: .float16
    case .float16, .float32, .float64, .bfloat16: .float32
    default: .int32
    }
  }

  /// The program without an output; the operations that compute it stay.
  func removingProgramOutput(_ name: String) throws -> Model {
    try editingFunction { function in
      function.editBodies { $0.outputs.removeAll { $0 == name } }
    }
  }

  // MARK: - Types

  /// The program with casts for all arrays whose type in the interface differs from the type in the
  /// function.
  ///
  /// - Throws: `.unsupported` for types that programs lack.
  func convertingProgramFeatures() throws -> Model {
    var model = self
    model.pipelineModels = try pipelineModels.map { try $0.convertingProgramFeatures() }
    guard case .mlProgram? = type, let description else { return model }
    return try model.editingFunction { function in
      var pool = NamePool(function.valueNames)
      for feature in description.input {
        guard case .multiArray(let array)? = feature.type?.kind,
          let index = function.inputs.firstIndex(where: { $0.name == feature.name }),
          let own = function.inputs[index].type?.tensor
        else { continue }
        let type = try inField(feature.name) { try programType(array.dataType) }
        if type == own.dataType { continue }
        let name = pool.take(feature.name + "_cast")
        function.renameValues([feature.name: name])
        function.inputs[index] = MILNamedType(feature.name, own.valueType(type))
        let dtype = pool.take(name + "_dtype")
        function.editBodies { body in
          body.operations.insert(
            contentsOf: MILOperation.cast(
              feature.name, to: name, own.valueType(own.dataType), dtype), at: 0)
        }
      }
      for feature in description.output {
        guard case .multiArray(let array)? = feature.type?.kind else { continue }
        let type = try inField(feature.name) { try programType(array.dataType) }
        function.editBodies { body in
          guard
            let index = body.operations.lastIndex(where: {
              $0.outputs.contains { $0.name == feature.name }
            }),
            let own = body.operations[index].outputs.first(where: { $0.name == feature.name })?
              .type?.tensor, own.dataType != type
          else { return }
          let name = pool.take(feature.name + "_value")
          let dtype = pool.take(name + "_dtype")
          body.renameValues([feature.name: name])
          body.outputs = body.outputs.map { $0 == name ? feature.name : $0 }
          body.operations.insert(
            contentsOf: MILOperation.cast(name, to: feature.name, own.valueType(type), dtype),
            at: index + 1)
        }
      }
    }
  }

  private func programType(_ type: ArrayFeatureType.DataType) throws -> MILDataType {
    switch type {
    case .float32: return .float32
    case .int32: return .int32
    case .float16:
      try require(
        specificationVersion >= 7, .unsupported,
        "a program for iOS 15 has no arrays of half precision in its interface",
        hint: "a program for \(setting: "target") iOS16 may have them")
      return .float16
    default:
      throw ModelError(
        .unsupported, "an ML Program has no arrays of this type",
        hint: "its arrays are of float32, float16 or int32")
    }
  }
}

extension MILTensorType {
  /// The same tensor type with another element type.
  fileprivate func valueType(_ type: MILDataType) -> MILValueType {
    MILValueType().with(\.kind, .tensor(with(\.dataType, type)))
  }
}

extension MILOperation {
  /// A cast, after the constant that names its type.
  fileprivate static func cast(
    _ input: String, to output: String, _ type: MILValueType, _ constant: String
  ) -> [MILOperation] {
    [
      MILOperation(constant: MILValue(type.tensor?.dataType.name ?? ""), name: constant),
      MILOperation(
        "cast", name: output,
        inputs: [
          MILArgumentEntry("x", [.name(input)]), MILArgumentEntry("dtype", [.name(constant)]),
        ], outputs: [MILNamedType(output, type)]),
    ]
  }
}

extension MILFunction {
  fileprivate var valueNames: Set<String> {
    specializations.compactMap(\.value).reduce(into: Set(inputs.map(\.name))) {
      $0.formUnion($1.valueNames)
    }
  }

  fileprivate mutating func renameValues(_ names: [String: String]) {
    for index in inputs.indices { inputs[index].rename(names) }
    editBodies { $0.renameValues(names) }
  }
}

extension MILBlock {
  /// The names of the values that the block and the blocks in it define.
  package var valueNames: Set<String> {
    operations.reduce(into: Set(inputs.map(\.name))) { names, operation in
      names.formUnion(operation.outputs.map(\.name))
      for block in operation.blocks { names.formUnion(block.valueNames) }
    }
  }

  fileprivate mutating func renameValues(_ names: [String: String]) {
    for index in inputs.indices { inputs[index].rename(names) }
    outputs = outputs.map { names[$0] ?? $0 }
    for index in operations.indices { operations[index].renameValues(names) }
  }
}

extension MILOperation {
  /// Renames the results, and the values that the operation and its blocks read.
  package mutating func renameValues(_ names: [String: String]) {
    for index in outputs.indices { outputs[index].rename(names) }
    for index in inputs.indices { inputs[index].rename(names) }
    for index in blocks.indices { blocks[index].renameValues(names) }
  }
}
