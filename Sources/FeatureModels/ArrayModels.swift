import LibC

extension Scaler: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let value = try inputs.required()
    func number(_ values: [Double], _ index: Int, otherwise: Double) -> Double {
      values.count == 1 ? values[0] : values.indices.contains(index) ? values[index] : otherwise
    }
    func scaled(_ x: Double, _ index: Int) -> Double {
      number(scale, index, otherwise: 1) * (x + number(shift, index, otherwise: 0))
    }
    guard case .numbers(let array) = value else {
      return [inputs.output: .double(scaled(value.number ?? .nan, 0))]
    }
    let elements = array.elements.enumerated().map { scaled($0.element, $0.offset) }
    return [inputs.output: .numbers(NumberArray(shape: array.shape, elements))]
  }
}

extension Normalizer: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    guard let array = try inputs.required().numberArray else { return [:] }
    let magnitudes = array.elements.map(abs)
    let length: Double =
      switch norm {
      case .max: magnitudes.max() ?? 0
      case .l1: magnitudes.reduce(0, +)
      case .l2: magnitudes.reduce(0) { $0 + $1 * $1 }.squareRoot()
      }
    let divisor = length == 0 ? 1 : length
    return [
      inputs.output: .numbers(NumberArray(shape: array.shape, array.elements.map { $0 / divisor }))
    ]
  }
}

extension ArrayFeatureExtractor: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    guard let array = try inputs.required().numberArray else { return [:] }
    let result = try indices.map { index in
      try require(
        array.elements.indices.contains(index), .mismatch,
        "the index \(index) is outside an array of \(array.elements.count) numbers",
        field: inputs.description.input.first?.name)
      return array.elements[index]
    }
    return [inputs.output: .numbers(NumberArray(result))]
  }
}

extension Imputer: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    guard let value = inputs.only else {
      return imputed.flatMap(Self.whole).map { [inputs.output: $0] } ?? [:]
    }
    return [inputs.output: replaced(in: value)]
  }

  /// The value for a missing input.
  private static func whole(_ imputed: Imputed) -> FeatureValue? {
    switch imputed {
    case .double(let value): .double(value)
    case .int64(let value): .int(value)
    case .string(let value): .string(value)
    case .doubles(let values): .numbers(NumberArray(values))
    case .int64s(let values): .numbers(NumberArray(values.map(Double.init)))
    case .stringDictionary(let entries):
      .dictionary(Dictionary(entries.map { (.string($0.key), $0.value) }, uniquingKeysWith: { $1 }))
    case .int64Dictionary(let entries):
      .dictionary(Dictionary(entries.map { (.int($0.key), $0.value) }, uniquingKeysWith: { $1 }))
    }
  }

  private func replaced(in value: FeatureValue) -> FeatureValue {
    switch (value, imputed.flatMap(Self.whole)) {
    case (.string(let text), .string(let other)?):
      return .string(isMissing(text) ? other : text)
    case (.int(let number), .int(let other)?):
      return .int(isMissing(Double(number)) ? other : number)
    case (.double(let number), .double(let other)?):
      return .double(isMissing(number) ? other : number)
    case (.numbers(let array), .double(let other)?):
      return .numbers(
        NumberArray(shape: array.shape, array.elements.map { isMissing($0) ? other : $0 }))
    case (.numbers(let array), .numbers(let others)?):
      return .numbers(
        NumberArray(
          shape: array.shape, zip(array.elements, others.elements).map { isMissing($0) ? $1 : $0 }))
    case (.dictionary(let entries), .dictionary(let others)?):
      return .dictionary(entries.merging(others) { own, other in own.isNaN ? other : own })
    default: return value
    }
  }

  private func isMissing(_ number: Double) -> Bool {
    switch replaced {
    case .double(let value)?: value.isNaN ? number.isNaN : number == value
    case .int64(let value)?: number == Double(value)
    default: number.isNaN
    }
  }

  private func isMissing(_ text: String) -> Bool {
    if case .string(let value)? = replaced { text == value } else { text.isEmpty }
  }
}

extension Identity: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let description = inputs.description
    var results = inputs.values
    for (input, output) in zip(description.input, description.output)
    where results[output.name] == nil { results[output.name] = inputs.values[input.name] }
    return results
  }
}
