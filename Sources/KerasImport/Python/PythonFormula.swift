import ByteFormats
import Formulas
import TensorCore

/// The formula that a Python function is, where it is one. Its instructions are read one after the
/// other and put together on paper; none is run.
struct PythonFormula: Equatable, Sendable {
  var expression: Expression
  /// The names of the layer's inputs in it.
  var inputs: [String]

  /// What a function is called with.
  struct Surroundings: Sendable {
    var inputCount = 1
    /// Of the last arguments.
    var defaults: [JSONValue] = []
    /// What the function encloses.
    var closure: [JSONValue] = []
    /// By name.
    var arguments: JSONObject = JSONObject()
  }
}

extension PythonFormula {
  /// - Throws: `.unsupported` if the function is more than a formula, or may be several.
  init(_ code: PythonCode, _ surroundings: Surroundings) throws {
    var found: [PythonFormula] = []
    var reason: (any Error)?
    for version in PythonVersion.all where version.layouts.contains(code.layout) {
      guard let operations = PythonInstructions.read(code, as: version) else { continue }
      do {
        var reader = try PythonFormulaReader(code, surroundings)
        let formula = try reader.read(operations)
        if !found.contains(formula) { found.append(formula) }
      } catch { reason = reason ?? error }
    }
    guard let first = found.first else {
      throw reason ?? ModelError(.unsupported, "it is more than a sequence of calculations")
    }
    try require(found.count == 1, .unsupported, "Python versions disagree about its meaning")
    self = first
  }
}

private struct PythonFormulaReader {
  private let code: PythonCode
  private let inputs: [String]
  private var locals: [PythonSymbol?]
  private let enclosed: [String: PythonSymbol]
  private var stack: [PythonSymbol] = []
  private var names: [String] = []

  init(_ code: PythonCode, _ surroundings: PythonFormula.Surroundings) throws {
    self.code = code
    guard code.argumentCount > 0, code.argumentCount <= code.variables.count,
      code.keywordOnlyCount >= 0,
      code.keywordOnlyCount <= code.variables.count - code.argumentCount,
      code.flags & PythonCode.generatorFlags == 0
    else { throw ModelError(.unsupported, "it takes no input, or is not a plain function") }
    guard surroundings.inputCount > 0 else { throw ModelError(.unsupported, "it has no input") }
    let name = Self.usable(code.variables[0])
    inputs =
      surroundings.inputCount == 1
      ? [name] : (0..<surroundings.inputCount).map { "\(name)\($0)" }
    locals = [PythonSymbol?](repeating: nil, count: code.variables.count)
    let symbols = inputs.map { PythonSymbol.expression(.name($0)) }
    locals[0] = surroundings.inputCount == 1 ? symbols[0] : .tuple(symbols)
    let firstDefault = code.argumentCount - surroundings.defaults.count
    for (index, value) in surroundings.defaults.enumerated() where firstDefault + index > 0 {
      locals[firstDefault + index] = try? PythonSymbol(value)
    }
    for index in 1..<max(1, code.argumentCount + code.keywordOnlyCount) {
      if let value = surroundings.arguments[code.variables[index]] {
        locals[index] = try? PythonSymbol(value)
      }
    }
    var enclosed: [String: PythonSymbol] = [:]
    for (name, value) in zip(code.free, surroundings.closure) {
      enclosed[name] = try? PythonSymbol(value)
    }
    self.enclosed = enclosed
  }

  /// A name that means nothing else in a formula.
  private static func usable(_ name: String) -> String {
    let isPlain =
      name.utf8.count <= 64 && name.first?.isNumber == false
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    let taken: Set<String> = ["pi", "inf", "nan", "True", "False", "None", "newaxis"]
    return isPlain && !taken.contains(name) ? name : "x"
  }

  mutating func read(_ operations: [PythonOperation]) throws -> PythonFormula {
    for (index, operation) in operations.enumerated() {
      let isLast = index == operations.count - 1
      switch operation {
      case .result, .constantResult:
        guard isLast else { throw ModelError(.unsupported, "it returns in several places") }
        if case .constantResult(let index) = operation { try push(constant(index)) }
        let result = try pop()
        guard stack.isEmpty else { throw malformed() }
        guard case .expression(let expression) = result else {
          throw ModelError(.unsupported, "it does not return a tensor")
        }
        return PythonFormula(expression: expression, inputs: inputs)
      default: try perform(operation)
      }
    }
    throw malformed()
  }

  private func malformed() -> ModelError { ModelError(.unsupported, "its code is damaged") }

  private mutating func push(_ symbol: PythonSymbol) throws {
    guard stack.count < code.stackSize else { throw malformed() }
    stack.append(symbol)
  }

  private mutating func pop() throws -> PythonSymbol {
    guard let symbol = stack.popLast() else { throw malformed() }
    return symbol
  }

  private mutating func pop(_ count: Int) throws -> [PythonSymbol] {
    guard count >= 0, count <= stack.count else { throw malformed() }
    let result = Array(stack.suffix(count))
    stack.removeLast(count)
    return result
  }

  private func constant(_ index: Int) throws -> PythonSymbol {
    guard code.constants.indices.contains(index) else { throw malformed() }
    return try PythonSymbol(code.constants[index])
  }

  private func name(_ index: Int) throws -> String {
    guard code.names.indices.contains(index) else { throw malformed() }
    return code.names[index]
  }

  private mutating func perform(_ operation: PythonOperation) throws {
    switch operation {
    case .nothing: break
    case .pop: _ = try pop()
    case .rotate(let count):
      let top = try pop()
      guard count <= stack.count else { throw malformed() }
      stack.insert(top, at: stack.count - count)
    case .copy(let place):
      guard place > 0, place <= stack.count else { throw malformed() }
      try push(stack[stack.count - place])
    case .swap(let place):
      guard place > 1, place <= stack.count else { throw malformed() }
      stack.swapAt(stack.count - 1, stack.count - place)
    case .null: try push(.null)
    case .constant(let index): try push(constant(index))
    case .local(let index):
      guard locals.indices.contains(index) else { throw malformed() }
      guard let value = locals[index] else {
        throw ModelError(
          .unsupported, "the value of '\(code.variables[index])' is unknown")
      }
      try push(value)
    case .setLocal(let index):
      guard locals.indices.contains(index) else { throw malformed() }
      locals[index] = try pop()
    case .global(let index):
      let name = try name(index)
      if code.layout == .python2, let constant = PythonLibraries.classicConstants[name] {
        try push(constant)
        break
      }
      guard let path = PythonLibraries.global(name) else {
        throw ModelError(.unsupported, "it uses '\(name)', defined outside it")
      }
      try push(.library(path))
    case .attribute(let index): try push(attribute(index))
    case .method(let index):
      let function = try attribute(index)
      try push(.null)
      try push(function)
    case .enclosed(let index):
      // Up to 3.10 the cells and what is enclosed are counted by themselves.
      let all = code.layout == .python311 ? code.variables : code.cells + code.free
      guard all.indices.contains(index) else { throw malformed() }
      guard let value = enclosed[all[index]] else {
        throw ModelError(.unsupported, "the value of '\(all[index])' is unknown")
      }
      try push(value)
    case .importModule(let index):
      let list = try pop()
      _ = try pop()
      let path = try name(index)
      let top = path.split(separator: ".").first.map(String.init) ?? path
      try push(.library(PythonLibraries.path(list == .none ? top : path)))
    case .importName(let index):
      guard case .library(let path)? = stack.last else { throw malformed() }
      try push(.library(PythonLibraries.path(path + "." + name(index))))
    case .sign(let sign):
      let operand = try pop()
      try push(signed(sign, operand))
    case .binary(let function):
      let right = try pop()
      let left = try pop()
      try push(binary(function, left, right))
    case .subscripted:
      let index = try pop()
      let value = try pop()
      try push(element(index, of: value))
    case .sliced:
      let bounds = try pop(2)
      let value = try pop()
      try push(element(.slice(bounds[0], bounds[1], .none), of: value))
    case .classicSlice(let kind):
      let end = kind >= 2 ? try pop() : .none
      let start = kind % 2 == 1 ? try pop() : .none
      let value = try pop()
      try push(element(.slice(start, end, .none), of: value))
    case .tuple(let count): try push(bundled(.tuple(pop(count))))
    case .slice(let count):
      guard count == 2 || count == 3 else { throw malformed() }
      let bounds = try pop(count)
      try push(bundled(.slice(bounds[0], bounds[1], count == 3 ? bounds[2] : .none)))
    case .unpack(let count):
      guard case .tuple(let elements) = try pop(), elements.count == count else {
        throw ModelError(.unsupported, "it unpacks a tensor")
      }
      for element in elements.reversed() { try push(element) }
    case .names(let index):
      guard case .tuple(let elements) = try constant(index) else { throw malformed() }
      names = try texts(elements)
    case .call(let count): try call(count, hasNull: true)
    case .callWithNames(let count):
      guard case .tuple(let elements) = try pop() else { throw malformed() }
      names = try texts(elements)
      try call(count, hasNull: true)
    case .plainCall(let count): try call(count, hasNull: false)
    case .plainCallWithNames(let count):
      guard case .tuple(let elements) = try pop() else { throw malformed() }
      names = try texts(elements)
      try call(count, hasNull: false)
    case .classicCall(let count, let named):
      let pairs = try pop(2 * named)
      names = try texts(stride(from: 0, to: pairs.count, by: 2).map { pairs[$0] })
      for index in stride(from: 1, to: pairs.count, by: 2) { try push(pairs[index]) }
      try call(count + named, hasNull: false)
    case .result, .constantResult: throw malformed()
    }
  }

  private func bundled(_ symbol: PythonSymbol) throws -> PythonSymbol {
    guard symbol.depth <= 4 else { throw ModelError(.unsupported, "it builds nested lists") }
    return symbol
  }

  private func texts(_ symbols: [PythonSymbol]) throws -> [String] {
    try symbols.map {
      guard case .string(let text) = $0 else { throw malformed() }
      return text
    }
  }

  private mutating func attribute(_ index: Int) throws -> PythonSymbol {
    let attribute = try name(index)
    guard case .library(let path) = try pop() else {
      throw ModelError(.unsupported, "it uses '.\(attribute)' of a tensor")
    }
    let whole = PythonLibraries.path(path + "." + attribute)
    return PythonLibraries.constant(whole) ?? .library(whole)
  }

  private mutating func call(_ count: Int, hasNull: Bool) throws {
    let arguments = try pop(count)
    var function = try pop()
    if hasNull {
      let other = try pop()
      guard (function == .null) != (other == .null) else { throw malformed() }
      if function == .null { function = other }
    }
    guard names.count <= arguments.count else { throw malformed() }
    let positional = arguments.dropLast(names.count)
    let keywords = zip(names, arguments.suffix(names.count)).map { (name: $0, value: $1) }
    names = []
    guard case .library(let path) = function else {
      throw ModelError(.unsupported, "it calls an unknown function")
    }
    try push(PythonLibraries.call(path, Array(positional), keywords))
  }

  private func signed(_ sign: PythonOperation.Sign, _ operand: PythonSymbol) throws -> PythonSymbol
  {
    switch (sign, operand) {
    case (.positive, _) where operand.expression != nil: return operand
    case (.negative, .int(let value)): return .int(0 &- value)
    case (.negative, .double(let value)): return .double(-value)
    case (.negative, .expression(let expression)):
      return .expression(try .apply(.negative, expression))
    case (.not, .expression(let expression)) where expression.isCondition:
      return .expression(try .apply(.logicalNot, expression))
    default: throw ModelError(.unsupported, "it calculates with something other than numbers")
    }
  }

  private func binary(
    _ function: PythonOperation.Operator, _ left: PythonSymbol, _ right: PythonSymbol
  ) throws -> PythonSymbol {
    let plain: ElementFunction =
      switch function {
      case .function(let function): function
      case .classicDivide: left.int != nil && right.int != nil ? .floorDivide : .divide
      }
    guard let a = left.expression, let b = right.expression else {
      throw ModelError(.unsupported, "it calculates with something other than numbers")
    }
    if plain == .logicalAnd || plain == .logicalOr {
      try require(a.isCondition && b.isCondition, .unsupported, "it uses bitwise operations")
    }
    let result = try Expression.apply(plain, a, b)
    guard let number = result.number else { return .expression(result) }
    // Whole numbers stay whole, but for a division.
    if left.int != nil, right.int != nil, plain != .divide, let whole = Int(exactly: number) {
      return .int(whole)
    }
    return .double(number)
  }

  private func element(_ index: PythonSymbol, of value: PythonSymbol) throws -> PythonSymbol {
    switch value {
    case .expression(let expression):
      return .expression(try Expression(.slice(expression, index.sliceItems())))
    case .tuple(let elements):
      guard let place = index.int, (-elements.count..<elements.count).contains(place) else {
        throw ModelError(.unsupported, "it slices a list")
      }
      return elements[place < 0 ? place + elements.count : place]
    default: throw ModelError(.unsupported, "it slices something other than a tensor")
    }
  }
}

extension Expression {
  /// Whether every value is 1 or 0.
  fileprivate var isCondition: Bool {
    guard case .apply(let function, _) = node else { return false }
    switch function {
    case .less, .lessEqual, .greater, .greaterEqual, .equal, .notEqual, .logicalAnd, .logicalOr,
      .logicalNot:
      return true
    default: return false
    }
  }
}
