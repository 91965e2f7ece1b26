/// A parameter of a custom layer, as `CustomLayerParams` stores it.
public enum CustomLayerParameter: Sendable, Equatable {
  /// `doubleValue`
  case double(Double)
  /// `stringValue`
  case string(String)
  /// `intValue`
  case int(Int32)
  /// `longValue`
  case long(Int64)
  /// `boolValue`
  case bool(Bool)

  /// The value as a floating-point number; nil if it is a Boolean or a string.
  public var floatValue: Float? {
    switch self {
    case .double(let value): Float(value)
    case .int(let value): Float(value)
    case .long(let value): Float(value)
    case .bool, .string: nil
    }
  }

  /// The specification's name for the type: `double`, `string`, `int`, `long` or `bool`.
  package var typeName: String {
    switch self {
    case .double: "double"
    case .string: "string"
    case .int: "int"
    case .long: "long"
    case .bool: "bool"
    }
  }
}

extension CustomLayerParameter: CustomStringConvertible {
  /// The bare value, as Core ML's dictionaries print it.
  public var description: String {
    switch self {
    case .double(let value): "\(value)"
    case .string(let value): value
    case .int(let value): "\(value)"
    case .long(let value): "\(value)"
    case .bool(let value): "\(value)"
    }
  }
}
