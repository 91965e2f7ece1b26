/// An array of numbers in double precision.
public struct NumberArray: Sendable, Equatable {
  /// The sizes of the axes.
  public let shape: [Int]
  /// The elements in row-major order.
  public let elements: [Double]

  /// Precondition: the number of elements matches the shape.
  public init(shape: [Int], _ elements: [Double]) {
    precondition(shape.reduce(1, *) == elements.count)
    self.shape = shape
    self.elements = elements
  }

  init(_ elements: [Double]) { self.init(shape: [elements.count], elements) }

  init(_ tensor: Tensor) { self.init(shape: tensor.shape, tensor.elements.map(Double.init)) }
}

/// A key of a dictionary.
public enum FeatureKey: Sendable, Hashable, Comparable {
  /// An integer; integers come before all strings.
  case int(Int)
  /// A string.
  case string(String)
}

extension FeatureKey: CustomStringConvertible {
  /// The number or string itself.
  public var description: String {
    switch self {
    case .int(let number): String(number)
    case .string(let text): text
    }
  }
}

extension ClassLabels {
  package var keys: [FeatureKey] {
    switch self {
    case .string(let labels): labels.map(FeatureKey.string)
    case .int64(let labels): labels.map(FeatureKey.int)
    }
  }
}

extension FeatureKey {
  package var value: FeatureValue {
    switch self {
    case .int(let number): .int(number)
    case .string(let text): .string(text)
    }
  }
}

extension FeatureValue {
  /// The only number; nil if there are several or none.
  package var number: Double? {
    switch self {
    case .double(let value): value
    case .int(let value): Double(value)
    case .numbers(let array): array.elements.count == 1 ? array.elements[0] : nil
    case .array(let tensor): tensor.count == 1 ? Double(tensor.elements[0]) : nil
    case .string, .dictionary, .image: nil
    }
  }

  /// All numbers; nil for a string, a dictionary or an image.
  var numberArray: NumberArray? {
    switch self {
    case .numbers(let array): array
    case .array(let tensor): NumberArray(tensor)
    case .double, .int: number.map { NumberArray([$0]) }
    case .string, .dictionary, .image: nil
    }
  }

  /// Converts the value to the declared type.
  ///
  /// - Throws: `.mismatch` if that is impossible.
  func converted(to type: FeatureType?, feature: String) throws -> FeatureValue {
    func mismatch(_ what: String) -> ModelError {
      ModelError(.mismatch, "the value is not \(what)", field: feature)
    }
    switch type?.kind {
    case .int64:
      if case .int = self { return self }
      guard let number, let whole = Int(exactly: number) else {
        throw mismatch("a whole number of 64 bits")
      }
      return .int(whole)
    case .double:
      guard let number else { throw mismatch("a number") }
      return .double(number)
    case .string:
      guard case .string = self else { throw mismatch("a text") }
      return self
    case .multiArray(let declared):
      guard let array = numberArray else { throw mismatch("an array") }
      return .numbers(try array.fitted(to: declared, feature: feature))
    case .dictionary(let keys):
      guard case .dictionary(let entries) = self else { throw mismatch("a dictionary") }
      return .dictionary(try entries.withKeys(of: keys, feature: feature))
    case .image:
      switch self {
      case .image, .array: return self
      default: throw mismatch("an image")
      }
    case .state, .opaque, nil:
      throw ModelError(.unsupported, "features of this type are not supported", field: feature)
    }
  }
}

extension NumberArray {
  /// The array in the declared shape, if it differs only in axes of length 1.
  fileprivate func fitted(to declared: ArrayFeatureType, feature: String) throws -> NumberArray {
    let wanted = declared.shape
    guard declared.flexibility == nil, !wanted.isEmpty, wanted != shape else { return self }
    try require(
      shape.filter { $0 != 1 } == wanted.filter { $0 != 1 }, .mismatch,
      "an array of shape \(shape) does not match the declared \(wanted)", field: feature)
    return NumberArray(shape: wanted, elements)
  }
}

extension [FeatureKey: Double] {
  fileprivate func withKeys(of kind: FeatureType.DictionaryKey?, feature: String) throws -> Self {
    var result: Self = [:]
    for (key, value) in self {
      switch (kind, key) {
      case (.int64?, .string(let text)):
        let number = try Int(text).orThrow(
          ModelError(.mismatch, "the key '\(text)' is not a whole number", field: feature))
        result[.int(number)] = value
      case (.string?, .int(let number)): result[.string(String(number))] = value
      default: result[key] = value
      }
    }
    return result
  }
}
