import ByteFormats
import TensorCore

extension MILProgram {
  /// Passes every value in the program to `body`: constants, attributes, and nested values.
  package func forEachValue(_ body: (MILValue) throws -> Void) rethrows {
    for attribute in attributes { try attribute.value?.forEach(body) }
    for function in functions {
      for attribute in function.value?.attributes ?? [] { try attribute.value?.forEach(body) }
      for block in function.value?.specializations ?? [] { try block.value?.forEachValue(body) }
    }
  }

  /// Reads the weight files that values refer to, and checks that they contain these values.
  mutating func readWeightFiles(_ package: ModelPackage?) throws {
    var names: Set<String> = []
    forEachValue { if case .file(let location)? = $0.content { names.insert(location.fileName) } }
    for name in names.sorted() {
      guard let package else { continue }
      weightFiles[name] = try inField(name) { try MILWeightFile(package.file(name)) }
    }
    if package == nil { return }
    try forEachValue { value in
      if case .file(let location)? = value.content {
        _ = try inField(location.fileName) { try MILElements(value, files: weightFiles) }
      }
    }
  }
}

extension MILBlock {
  fileprivate func forEachValue(_ body: (MILValue) throws -> Void) rethrows {
    for attribute in attributes { try attribute.value?.forEach(body) }
    for operation in operations {
      for attribute in operation.attributes { try attribute.value?.forEach(body) }
      for binding in operation.inputs.lazy.compactMap(\.value).flatMap(\.arguments) {
        if case .value(let value)? = binding.content { try value.forEach(body) }
      }
      for block in operation.blocks { try block.forEachValue(body) }
    }
  }
}

extension MILValue {
  fileprivate func forEach(_ body: (MILValue) throws -> Void) rethrows {
    try body(self)
    guard case .immediate(let immediate)? = content else { return }
    switch immediate.content {
    case .tuple(let values)?, .list(let values)?:
      for value in values.values { try value.forEach(body) }
    case .dictionary(let dictionary)?:
      for pair in dictionary.values {
        try pair.key?.forEach(body)
        try pair.value?.forEach(body)
      }
    case .tensor?, nil: break
    }
  }
}

extension Model {
  /// Reads the weight files of the model's program, or of programs in a pipeline, from its package.
  mutating func readWeightFiles(_ package: ModelPackage?) throws {
    if case .mlProgram(var program)? = type {
      try program.readWeightFiles(package)
      type = .mlProgram(program)
    } else if var pipeline = type?.pipeline {
      for index in pipeline.models.indices { try pipeline.models[index].readWeightFiles(package) }
      type?.pipeline = pipeline
    }
  }

  /// The first weight file of the model's program, or of one in a pipeline; nil if all weights are
  /// in the document.
  var weightFile: String? {
    guard case .mlProgram(let program)? = type else {
      return pipelineModels.compactMap(\.weightFile).first
    }
    return program.weightFiles.keys.min()
  }

  /// The weight files of the model's program, or of programs in a pipeline, by path.
  var weightFiles: [String: Bytes] {
    guard case .mlProgram(let program)? = type else {
      return pipelineModels.reduce(into: [:]) { $0.merge($1.weightFiles) { first, _ in first } }
    }
    return program.weightFiles.mapValues(\.bytes)
  }
}
