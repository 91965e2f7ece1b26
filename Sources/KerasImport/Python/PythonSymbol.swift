import ByteFormats
import Formulas
import PythonSource
import TensorCore

/// A value, as far as it is known without running code.
indirect enum PythonSymbol {
  /// A tensor, or a computation with tensors that is not a layer yet.
  case expression(Expression)
  case int(Int)
  case double(Double)
  case bool(Bool)
  case string(String)
  case none
  case ellipsis
  case tuple([PythonSymbol])
  case list(PythonList)
  case dictionary(PythonDictionary)
  /// The sizes in a tensor, such as the result of `tf.shape`.
  case sizes([SymbolicSize])
  /// An unknown size, or a number computed from one.
  case unknownSize(SymbolicSize)
  /// An array of known numbers.
  case array(FormulaArray)
  /// A transposed tensor whose batch axis is not the first one.
  case transposed(Expression, [Int])
  case slice(PythonSymbol, PythonSymbol, PythonSymbol)
  /// A module or a function in a module, by path.
  case library(String)
  case function(PythonFunction)
  /// A method of a value, by name.
  case method(PythonSymbol, String)
  case iterator(PythonIterator)
  case cell(PythonCell)
  case code(PythonCode)
  case null
  /// A class defined in a source file.
  case type(PythonClass)
  case object(PythonObject)
  /// A function bound to its first argument.
  case bound(PythonSymbol, PythonSymbol)
  /// A function with its first arguments and some named arguments.
  case partial(PythonSymbol, [PythonSymbol], PythonMachine.Keywords)
  /// The result of `super()` in a method of the class.
  case parent(PythonObject, PythonClass)
  /// A source file.
  case module(PythonScope)

  init(_ constant: PythonMarshal.Value) throws {
    switch constant {
    case .none: self = .none
    case .bool(let value): self = .bool(value)
    case .ellipsis: self = .ellipsis
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .tuple(let elements): self = .tuple(try elements.map { try PythonSymbol($0) })
    case .code(let code): self = .code(code)
    case .bytes, .other:
      throw ModelError(.unsupported, "it contains a constant of an unsupported kind")
    }
  }

  init(_ size: SymbolicSize) {
    switch size {
    case .known(let size): self = .int(size)
    case .number(let number): self = .double(number)
    case .batch, .ofBatch, .unknown: self = .unknownSize(size)
    }
  }

  init(_ json: JSONValue) throws {
    switch PythonValues.plain(json) {
    case .null: self = .none
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .array(let elements): self = .tuple(try elements.map { try PythonSymbol($0) })
    case .object(let object):
      self = .dictionary(
        PythonDictionary(
          try object.members.map { (key: $0.name, value: try PythonSymbol($0.value)) }))
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

  /// Whether collections are nested at most `depth` deep and contain at most `nodes` values, which
  /// are subtracted from `nodes`. A collection counts each time it is reached.
  func fits(depth: Int, nodes: inout Int) -> Bool {
    nodes -= 1
    let inner: [PythonSymbol]
    switch self {
    case .tuple(let elements): inner = elements
    case .list(let list): inner = list.elements
    case .dictionary(let members): inner = members.members.map(\.value)
    case .slice(let start, let end, let step): inner = [start, end, step]
    default: return nodes >= 0
    }
    guard depth > 0, nodes >= inner.count else { return false }
    for symbol in inner where !symbol.fits(depth: depth - 1, nodes: &nodes) { return false }
    return true
  }

  var int: Int? {
    switch self {
    case .int(let value): value
    case .bool(let value): value ? 1 : 0
    default: nil
    }
  }

  var double: Double? {
    if case .double(let value) = self { value } else { int.map { Double($0) } }
  }

  /// The result of `str`, if it is known.
  var plainText: String { string ?? int.map(String.init) ?? double.map { "\($0)" } ?? "?" }

  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// An integer or an unknown size; nil for anything else.
  var size: SymbolicSize? {
    if case .unknownSize(let size) = self { size } else { int.map { .known($0) } }
  }

  /// The name of a library's module, function or type.
  var path: String? { if case .library(let path) = self { path } else { nil } }

  var isNone: Bool { if case .none = self { true } else { false } }

  var isNull: Bool { if case .null = self { true } else { false } }

  /// The elements of a tuple, a list or sizes.
  var elements: [PythonSymbol]? {
    switch self {
    case .tuple(let elements): elements
    case .list(let list): list.elements
    case .sizes(let sizes): sizes.map { PythonSymbol($0) }
    case .dictionary(let members): members.keys
    case .array(let array) where array.shape.count == 1: array.elements.map { .double($0) }
    default: nil
    }
  }

  /// The numbers of nested lists as an array; nil for anything else.
  var array: FormulaArray? {
    if case .array(let array) = self { return array }
    if let double { return FormulaArray(double) }
    guard let parts = elements?.map(\.array), let first = parts.first ?? nil,
      parts.count <= 1 << 16, first.shape.count < Limits.rank,
      parts.allSatisfy({ $0?.shape == first.shape })
    else { return nil }
    return FormulaArray([parts.count] + first.shape, parts.flatMap { $0?.elements ?? [] })
  }

  /// The symbol as an argument of functions in formulas.
  func argument() throws -> FunctionArgument {
    switch self {
    case .bool(let value): return .flag(value)
    case .string(let text): return .text(text)
    case .none: return .none
    case .tuple, .list:
      let elements = elements ?? []
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

  /// The items between the brackets of a subscript.
  func sliceItems() throws -> [Expression.SliceItem] {
    guard case .tuple(let elements) = self else { return [try sliceItem()] }
    guard elements.count <= 2 * Limits.rank else {
      throw ModelError(.unsupported, "it uses \(elements.count) indices")
    }
    return try elements.map { try $0.sliceItem() }
  }

  private func sliceItem() throws -> Expression.SliceItem {
    func bound(_ symbol: PythonSymbol) throws -> Int? {
      if symbol.isNone { return nil }
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

  /// Whether both values are equal; nil if that is unknown.
  func equals(_ other: PythonSymbol) -> Bool? {
    if let a = double, let b = other.double { return a == b }
    if let a = string, let b = other.string { return a == b }
    if isNone || other.isNone { return isNone && other.isNone }
    if case .dictionary(let a) = self, case .dictionary(let b) = other {
      let same = a.members.map { name, value in b[name].map { value.equals($0) } ?? false }
      if a.members.count != b.members.count || same.contains(false) { return false }
      return same.contains(nil) ? nil : true
    }
    if let a = elements, let b = other.elements {
      if a.count != b.count { return false }
      var result = true
      for (x, y) in zip(a, b) {
        guard let same = x.equals(y) else { return nil }
        result = result && same
      }
      return result
    }
    if case .library(let a) = self, case .library(let b) = other { return a == b }
    if case .object(let a) = self, case .object(let b) = other { return a === b }
    if case .type(let a) = self, case .type(let b) = other { return a === b }
    switch (self, other) {
    case (.expression, _), (_, .expression), (.unknownSize, _), (_, .unknownSize): return nil
    default: return false
    }
  }
}

extension PythonSymbol {
  /// Integers and unknown sizes as sizes; nil if any element is neither.
  static func sizes(of elements: [PythonSymbol]) -> PythonSymbol? {
    let sizes = elements.compactMap(\.size)
    return sizes.count == elements.count ? .sizes(sizes) : nil
  }

  /// The name of the type, as in `isinstance`.
  var kind: String? {
    switch self {
    case .int: "int"
    case .double: "float"
    case .bool: "bool"
    case .string: "str"
    case .tuple: "tuple"
    case .list: "list"
    case .dictionary: "dict"
    case .expression: "tensor"
    case .none: "none"
    case .slice: "slice"
    default: nil
    }
  }
}

/// A mutable list with reference semantics.
final class PythonList {
  var elements: [PythonSymbol]

  init(_ elements: [PythonSymbol]) { self.elements = elements }
}

/// A mutable dictionary with reference semantics.
final class PythonDictionary {
  private(set) var members: [(key: String, value: PythonSymbol)] = []

  init(_ members: [(key: String, value: PythonSymbol)] = []) {
    for (key, value) in members { self[key] = value }
  }

  subscript(key: String) -> PythonSymbol? {
    get { members.first { $0.key == key }?.value }
    set {
      let index = members.firstIndex { $0.key == key }
      guard let newValue else { return index.map { _ = members.remove(at: $0) } ?? () }
      if let index { members[index].value = newValue } else { members.append((key, newValue)) }
    }
  }

  /// Integers are marked, because they differ from strings with the same digits.
  static func key(_ symbol: PythonSymbol) throws -> String {
    guard let key = symbol.string ?? symbol.int.map({ "\0\($0)" }) else {
      throw PythonMachine.unsupported(
        "a dictionary in it has a key other than text and whole numbers")
    }
    return key
  }

  var keys: [PythonSymbol] {
    members.map { $0.key.first == "\0" ? .int(Int($0.key.dropFirst()) ?? 0) : .string($0.key) }
  }
}

/// The iterator of a loop.
final class PythonIterator {
  private let elements: [PythonSymbol]
  private var position = 0

  init(_ elements: [PythonSymbol]) { self.elements = elements }

  func next() -> PythonSymbol? {
    guard position < elements.count else { return nil }
    defer { position += 1 }
    return elements[position]
  }
}

/// A variable that several functions share.
final class PythonCell {
  var value: PythonSymbol?

  init(_ value: PythonSymbol?) { self.value = value }
}

/// A function that the interpreted code defines or calls.
struct PythonFunction {
  var code: PythonCode
  var operations: [PythonOperation]
  /// The Python version of the instructions; nil for a function from a source file.
  var version: PythonVersion?
  /// The defaults of the last arguments.
  var defaults: [PythonSymbol] = []
  var keywordDefaults: [String: PythonSymbol] = [:]
  var closure: [PythonCell] = []
  /// The source position of each instruction.
  var positions: [PythonPosition] = []
  /// The functions that it defines.
  var inner: [PythonFunction] = []
  var scope: PythonScope?
  /// The class that has it as a method.
  var owner: PythonClass?
}
