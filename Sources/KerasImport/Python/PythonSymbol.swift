import ByteFormats
import Formulas
import TensorCore

/// A value as far as it is known without running anything.
indirect enum PythonSymbol: Sendable, Equatable {
  case expression(Expression)
  case int(Int)
  case double(Double)
  case bool(Bool)
  case string(String)
  case none
  case ellipsis
  case tuple([PythonSymbol])
  case slice(PythonSymbol, PythonSymbol, PythonSymbol)
  /// A module or a function of one, by its path.
  case library(String)
  case null

  init(_ constant: PythonMarshal.Value) throws {
    switch constant {
    case .none: self = .none
    case .bool(let value): self = .bool(value)
    case .ellipsis: self = .ellipsis
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .tuple(let elements): self = .tuple(try elements.map { try PythonSymbol($0) })
    case .bytes, .code, .other:
      throw ModelError(.unsupported, "it contains a constant of an unsupported kind")
    }
  }

  init(_ json: JSONValue) throws {
    switch json {
    case .null: self = .none
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .array(let elements): self = .tuple(try elements.map { try PythonSymbol($0) })
    case .object: throw ModelError(.unsupported, "it receives an object")
    }
  }

  var expression: Expression? {
    switch self {
    case .expression(let expression): expression
    case .int(let value): .number(Double(value))
    case .double(let value): .number(value)
    case .bool(let value): .number(value ? 1 : 0)
    default: nil
    }
  }

  /// How many bundles are inside one another.
  var depth: Int {
    switch self {
    case .tuple(let elements): 1 + (elements.map(\.depth).max() ?? 0)
    case .slice(let start, let end, let step): 1 + max(start.depth, end.depth, step.depth)
    default: 0
    }
  }

  var int: Int? { if case .int(let value) = self { value } else { nil } }

  /// As the language's functions take it.
  func argument() throws -> FunctionArgument {
    switch self {
    case .bool(let value): return .flag(value)
    case .string(let text): return .text(text)
    case .none: return .none
    case .tuple(let elements):
      let numbers = elements.compactMap(\.int)
      try require(numbers.count == elements.count, .unsupported, "it calls a function with a list")
      return .list(numbers)
    default:
      guard let expression else {
        throw ModelError(.unsupported, "it calls a function with something other than numbers")
      }
      return .expression(expression)
    }
  }

  /// What stands between brackets.
  func sliceItems() throws -> [Expression.SliceItem] {
    guard case .tuple(let elements) = self else { return [try sliceItem()] }
    guard elements.count <= 2 * Limits.rank else {
      throw ModelError(.unsupported, "it uses \(elements.count) indices")
    }
    return try elements.map { try $0.sliceItem() }
  }

  private func sliceItem() throws -> Expression.SliceItem {
    func bound(_ symbol: PythonSymbol) throws -> Int? {
      if symbol == .none { return nil }
      guard let value = symbol.int, value.magnitude <= UInt(Limits.dimension) else {
        throw ModelError(.unsupported, "its slice bounds are not integers")
      }
      return value
    }
    switch self {
    case .none: return .newAxis
    case .ellipsis: return .ellipsis
    case .slice(let start, let end, let step):
      return .range(start: try bound(start), end: try bound(end), step: try bound(step) ?? 1)
    default:
      guard let index = try bound(self) else { return .newAxis }
      return .index(index)
    }
  }
}
