extension OneHotEncoder: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let keys = categories?.keys ?? []
    let value = try inputs.required()
    let position: Int? =
      switch value {
      case .int(let number): keys.firstIndex(of: .int(number))
      case .string(let text): keys.firstIndex(of: .string(text))
      default: nil
      }
    try require(
      position != nil || unknown == .ignore, .mismatch,
      "the value is none of the \(keys.count) categories",
      field: inputs.description.input.first?.name)
    if isSparse { return [inputs.output: .dictionary(position.map { [.int($0): 1] } ?? [:])] }
    var result = [Double](repeating: 0, count: keys.count)
    if let position { result[position] = 1 }
    return [inputs.output: .numbers(NumberArray(result))]
  }
}

extension DictVectorizer: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let keys = keys?.keys ?? []
    guard case .dictionary(let entries) = try inputs.required() else { return [:] }
    // For integer keys, coremltools declares a dictionary with string keys.
    let result = keys.map { entries[$0] ?? entries[.string($0.description)] ?? 0 }
    if case .dictionary? = inputs.description.output.first?.type?.kind {
      let present = result.enumerated().filter { $0.element != 0 }
      return [
        inputs.output: .dictionary(
          Dictionary(uniqueKeysWithValues: present.map { (.int($0.offset), $0.element) }))
      ]
    }
    return [inputs.output: .numbers(NumberArray(result))]
  }
}

extension CategoricalMapping: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let value = try inputs.required()
    var result: FeatureValue?
    switch (mapping, value) {
    case (.stringToInt64(let pairs)?, .string(let text)):
      result = pairs.first { $0.text == text }.map { .int($0.number) }
    case (.int64ToString(let pairs)?, .int(let number)):
      result = pairs.first { $0.number == number }.map { .string($0.text) }
    default: break
    }
    switch unknown {
    case .string(let text)?: result = result ?? .string(text)
    case .int64(let number)?: result = result ?? .int(number)
    case nil: break
    }
    guard let result else {
      throw ModelError(
        .mismatch, "the mapping does not contain the value",
        field: inputs.description.input.first?.name)
    }
    return [inputs.output: result]
  }
}

extension FeatureVectorizer: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    var result: [Double] = []
    for column in columns {
      let value = try inputs.values[column.name].orThrow(
        ModelError(.mismatch, "no value for input \(column.name)"))
      if case .dictionary(let entries) = value {
        result += try Self.dense(entries, column)
        continue
      }
      let numbers = value.numberArray?.elements ?? []
      try require(
        numbers.count == column.dimensions, .mismatch,
        "\(numbers.count) numbers; \(column.dimensions) are needed", field: column.name)
      result += numbers
    }
    return [inputs.output: .numbers(NumberArray(result))]
  }

  /// The values of integer keys, at these indices.
  private static func dense(_ entries: [FeatureKey: Double], _ column: Column) throws -> [Double] {
    let count = try checkedProduct([column.dimensions], limit: FeatureInputs.elementLimit)
    var result = [Double](repeating: 0, count: count)
    for (key, value) in entries {
      guard case .int(let position) = key, result.indices.contains(position) else {
        throw ModelError(
          .mismatch, "the key '\(key)' is not a place among \(count)", field: column.name)
      }
      result[position] = value
    }
    return result
  }
}
