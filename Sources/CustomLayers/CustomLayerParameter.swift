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
