import Formulas
import TensorCore

extension PythonMachine {
  /// Signs, operators and subscripts.
  func calculate(_ operation: PythonOperation, _ frame: inout Frame) throws {
    switch operation {
    case .sign(let sign):
      let value = try frame.pop()
      try frame.push(recorded([value]) { try signed(sign, value) })
    case .negation: try frame.push(.bool(!truth(frame.pop())))
    case .binary(let function):
      let right = try frame.pop()
      let left = try frame.pop()
      try frame.push(binary(function, left, right))
    case .contains(let negated):
      let whole = try frame.pop()
      let part = try frame.pop()
      if case .string(let text) = whole, let part = part.string {
        try frame.push(.bool((part.isEmpty || text.contains(part)) != negated))
        return
      }
      let answers = try elements(whole).map { $0.equals(part) }
      guard !answers.contains(nil) else {
        throw Self.unsupported("it searches a list for a tensor")
      }
      try frame.push(.bool(answers.contains(true) != negated))
    case .identical(let negated):
      let right = try frame.pop()
      let left = try frame.pop()
      guard
        let same = left.isNone || right.isNone ? left.isNone && right.isNone : left.equals(right)
      else { throw Self.unsupported("it compares tensors by identity") }
      try frame.push(.bool(same != negated))
    case .subscripted:
      let index = try frame.pop()
      try frame.push(element(index, of: frame.pop()))
    case .replaceElement, .setSubscripted:
      let index = try frame.pop()
      let whole = try frame.pop()
      let isReplaced = operation == .replaceElement
      if isReplaced, case .array(let array) = whole {
        return try frame.push(replaced(index, of: array, with: frame.pop()))
      }
      defer { if isReplaced { frame.stack.append(whole) } }
      if case .dictionary(let members) = whole {
        members[try PythonDictionary.key(index)] = try frame.pop()
        return
      }
      guard case .list(let list) = whole, let position = index.int,
        (-list.elements.count..<list.elements.count).contains(position)
      else { throw Self.unsupported("it changes an element of a tensor") }
      list.elements[position < 0 ? position + list.elements.count : position] = try frame.pop()
    case .sliced:
      let bounds = try frame.pop(2)
      try frame.push(element(.slice(bounds[0], bounds[1], .none), of: frame.pop()))
    case .classicSlice(let kind):
      let end = kind >= 2 ? try frame.pop() : .none
      let start = kind % 2 == 1 ? try frame.pop() : .none
      try frame.push(element(.slice(start, end, .none), of: frame.pop()))
    default: throw Self.malformed
    }
  }

  /// The symbol as an operand of computations; arrays get a name.
  func operand(_ symbol: PythonSymbol) throws -> Expression? {
    if let expression = symbol.expression { return expression }
    if case .library(let path) = symbol, path.contains("random") {
      throw PythonLibraries.refusal(path)
    }
    guard let array = symbol.array else { return nil }
    let name = unusedName("c")
    constants[name] = array
    return .name(name)
  }

  /// A letter with the first number that makes an unused name.
  func unusedName(_ letter: String) -> String {
    var number = (letter == "c" ? constants.count : tensors?.log.count ?? 0) + 1
    while constants["\(letter)\(number)"] != nil || tensors?.tensors["\(letter)\(number)"] != nil {
      number += 1
    }
    return "\(letter)\(number)"
  }

  /// The value of a computation: a number or an array if it contains no tensor.
  func value(_ expression: Expression, isWhole: Bool = false) throws -> PythonSymbol {
    if let number = expression.number {
      return isWhole ? Int(exactly: number).map { .int($0) } ?? .double(number) : .double(number)
    }
    let names = expression.names
    guard names.allSatisfy({ constants[$0] != nil }) else { return .expression(expression) }
    let known = constants.filter { names.contains($0.key) }
    let shape = try expression.shape(known.mapValues { $0.shape.map { $0 } })
    try take(steps: checkedProduct(shape.map { $0 ?? 0 }, limit: arrayLimit) / 256)
    let result = try expression.value(known)
    return result.shape.isEmpty ? .double(result.elements.first ?? 0) : .array(result)
  }

  private func signed(_ sign: PythonOperation.Sign, _ symbol: PythonSymbol) throws -> PythonSymbol {
    switch (sign, symbol) {
    case (.negative, .int(let value)): return .int(0 &- value)
    case (.negative, .double(let value)): return .double(-value)
    default: break
    }
    guard let operand = try operand(symbol) else {
      throw Self.unsupported("it computes with something other than numbers")
    }
    switch sign {
    case .positive: return symbol
    case .negative: return try value(.apply(.negative, operand))
    case .not:
      guard operand.isCondition else { throw Self.unsupported("it uses bitwise operations") }
      return .expression(try .apply(.logicalNot, operand))
    }
  }

  func binary(
    _ function: PythonOperation.Operator, _ left: PythonSymbol, _ right: PythonSymbol
  ) throws -> PythonSymbol {
    try recorded([left, right]) { try combined(function, left, right) }
  }

  private func combined(
    _ function: PythonOperation.Operator, _ left: PythonSymbol, _ right: PythonSymbol
  ) throws -> PythonSymbol {
    if function == .matrixProduct { return try call(.library("tf.matmul"), [left, right], []) }
    let plain =
      ElementFunction(rawValue: function.rawValue)
      // Python 2's division.
      ?? (left.int != nil && right.int != nil ? .floorDivide : .divide)
    if let known = try bundled(plain, left, right) ?? number(plain, left, right) { return known }
    guard let a = try operand(left), let b = try operand(right) else {
      throw Self.unsupported("it computes with something other than numbers")
    }
    if plain == .logicalAnd || plain == .logicalOr {
      if case .bool(let x) = left, case .bool(let y) = right {
        return .bool(plain == .logicalAnd ? x && y : x || y)
      }
      try require(a.isCondition && b.isCondition, .unsupported, "it uses bitwise operations")
    }
    let result = try Expression.apply(plain, a, b)
    if plain.isComparison, let number = result.number { return .bool(number != 0) }
    // Integers stay integers, except in a division.
    return try value(result, isWhole: left.int != nil && right.int != nil && plain != .divide)
  }

  /// Python's arithmetic on numbers; nil for anything else.
  private func number(
    _ function: ElementFunction, _ left: PythonSymbol, _ right: PythonSymbol
  ) throws -> PythonSymbol? {
    guard let a = left.double, let b = right.double else { return nil }
    let divides = [.divide, .floorDivide, .modulo].contains(function)
    if b == 0 && divides || a == 0 && b < 0 && function == .power {
      throw Self.unsupported("it divides by zero")
    }
    if let a = left.int, let b = right.int, let whole = function.whole(a, b) {
      guard let whole else { throw Self.unsupported("it computes with numbers of too many digits") }
      return .int(whole)
    }
    if function == .power, a.isFinite, b.isFinite, !function.value([a, b]).isFinite {
      throw Self.unsupported("a power in it is not a real number, or too large")
    }
    return nil
  }

  /// Operators on lists, strings and sizes; nil for numbers and tensors.
  private func bundled(
    _ function: ElementFunction, _ left: PythonSymbol, _ right: PythonSymbol
  ) throws -> PythonSymbol? {
    // Arrays are compared element by element.
    let isElementwise =
      !left.isNone && !right.isNone
      && [left, right].contains { if case .array = $0 { true } else { $0.isSizes } }
    if function == .equal || function == .notEqual, !isElementwise,
      left.expression == nil || right.expression == nil, let same = left.equals(right)
    {
      return .bool(same == (function == .equal))
    }
    if let sizes = try sizes(function, left, right) { return sizes }
    if function.isComparison, !isElementwise, left.elements != nil, right.elements != nil {
      throw Self.unsupported("it compares lists")
    }
    switch function {
    case .add: return try sum(left, right)
    case .multiply:
      if let count = right.int { return try repeated(left, count) }
      return try left.int.flatMap { try repeated(right, $0) }
    case .modulo:
      return left.string.map { text in
        let text = ["%d", "%s", "%i"].reduce(text) { $0.replacing($1, with: "{}") }
        return .string(Self.filled(text, right.elements ?? [right]))
      }
    default: return nil
    }
  }

  /// Elementwise arithmetic on sizes; nil if neither operand contains sizes.
  private func sizes(
    _ function: ElementFunction, _ left: PythonSymbol, _ right: PythonSymbol
  ) throws -> PythonSymbol? {
    guard left.isSizes || right.isSizes else { return nil }
    func values(_ symbol: PythonSymbol) -> KnownSizes? {
      if let size = symbol.size ?? symbol.double.map({ SymbolicSize($0) }) {
        return KnownSizes(size)
      }
      let sizes = symbol.elements?.map(\.size)
      guard let sizes, !sizes.contains(nil) else { return nil }
      return KnownSizes(values: sizes.compactMap { $0 })
    }
    guard let a = values(left), let b = values(right),
      a.isScalar || b.isScalar || a.values.count == b.values.count
    else { return nil }
    if [.divide, .floorDivide, .modulo].contains(function), b.values.contains(where: \.isZero) {
      throw Self.unsupported("it divides by zero")
    }
    let results = (0..<max(a.values.count, b.values.count)).map { index in
      function.size(a.scalar ?? a.values[index], b.scalar ?? b.values[index])
    }
    guard a.isScalar && b.isScalar else {
      return results.contains { if case .number = $0 { true } else { false } }
        ? nil : .sizes(results)
    }
    guard function.isComparison else { return PythonSymbol(results[0]) }
    guard let number = results[0].number else {
      throw Self.unsupported("it branches on an unknown size")
    }
    return .bool(number != 0)
  }

  func element(_ index: PythonSymbol, of value: PythonSymbol) throws -> PythonSymbol {
    if case .dictionary(let members) = value {
      guard let value = members[try PythonDictionary.key(index)] else {
        throw Self.unsupported("it reads a missing member of a dictionary")
      }
      return value
    }
    if case .transposed(let expression, let axes) = value {
      // Takes an element along the first axis; the rest may still be transposed.
      guard let position = index.int, let axis = axes.first, axis > 0 else {
        throw Self.unsupported("it moves the batch")
      }
      let whole = PythonSymbol.slice(.none, .none, .none)
      let part = try element(
        .tuple([PythonSymbol](repeating: whole, count: axis) + [.int(position)]),
        of: .expression(expression))
      let rest = axes.dropFirst().map { PythonSymbol.int($0 > axis ? $0 - 1 : $0) }
      return try call(.library("tf.transpose"), [part, .tuple(rest)], [])
    }
    if case .array = value, index.int == nil { return try part(index, of: value) }
    // Sizes may also be subscripted like a NumPy array.
    if case .sizes = value, case .tuple = index, let array = value.array {
      return try part(index, of: .array(array))
    }
    if case .expression = value, case .list(let list) = index {
      return try part(.tuple(list.elements), of: value)
    }
    guard let elements = value.elements else { return try part(index, of: value) }
    if let position = index.int {
      guard (-elements.count..<elements.count).contains(position) else {
        throw Self.unsupported("it reads element \(position) of \(elements.count)")
      }
      return elements[position < 0 ? position + elements.count : position]
    }
    guard case .slice(let start, let end, let step) = index,
      [start, end, step].allSatisfy({ $0.isNone || $0.int != nil })
    else { throw Self.unsupported("it slices a list") }
    let stride = step.int ?? 1
    guard stride != 0, stride != Int.min else { throw Self.unsupported("it slices a list") }
    let count = elements.count
    func position(_ symbol: PythonSymbol, _ standard: Int, _ bounds: ClosedRange<Int>) -> Int {
      guard let value = symbol.int else { return standard }
      return min(max(value < 0 ? value &+ count : value, bounds.lowerBound), bounds.upperBound)
    }
    let positions =
      stride > 0
      ? Array(
        Swift.stride(
          from: position(start, 0, 0...count), to: position(end, count, 0...count), by: stride))
      : Array(
        Swift.stride(
          from: position(start, count - 1, -1...count - 1), to: position(end, -1, -1...count - 1),
          by: stride))
    let parts = positions.map { elements[$0] }
    switch value {
    case .list: return .list(PythonList(parts))
    case .sizes(let sizes): return .sizes(positions.map { sizes[$0] })
    case .array(let array):
      return .array(FormulaArray([parts.count], positions.map { array.elements[$0] }))
    default: return .tuple(parts)
    }
  }

  /// A slice of a tensor or of an array.
  private func part(_ index: PythonSymbol, of value: PythonSymbol) throws -> PythonSymbol {
    guard value.double == nil, let whole = try operand(value) else {
      throw Self.unsupported("it slices something other than a tensor")
    }
    return try recorded([value]) { try self.value(Expression(.slice(whole, index.sliceItems()))) }
  }
}

extension PythonSymbol {
  fileprivate var isSizes: Bool {
    switch self {
    case .sizes, .unknownSize: true
    default: false
    }
  }
}

extension SymbolicSize {
  fileprivate var isZero: Bool { number == 0 }
}

extension ElementFunction {
  /// The result for integers, `.some(nil)` if it overflows; nil for other functions.
  fileprivate func whole(_ a: Int, _ b: Int) -> Int?? {
    func checked(_ result: (partialValue: Int, overflow: Bool)) -> Int?? {
      .some(result.overflow ? nil : result.partialValue)
    }
    switch self {
    case .add: return checked(a.addingReportingOverflow(b))
    case .subtract: return checked(a.subtractingReportingOverflow(b))
    case .multiply: return checked(a.multipliedReportingOverflow(by: b))
    // Rounds down; the remainder has the divisor's sign.
    case .floorDivide, .modulo:
      let quotient = a.dividedReportingOverflow(by: b)
      if quotient.overflow { return .some(nil) }
      let remainder = a - quotient.partialValue * b
      let isAbove = remainder != 0 && (remainder < 0) != (b < 0)
      if self == .modulo { return .some(isAbove ? remainder + b : remainder) }
      return .some(isAbove ? quotient.partialValue - 1 : quotient.partialValue)
    case .power where b >= 0:
      if a.magnitude < 2 { return .some(b == 0 ? 1 : b % 2 == 0 ? a * a : a) }
      var result = 1
      for _ in 0..<min(b, 64) {
        let next = result.multipliedReportingOverflow(by: a)
        if next.overflow { return .some(nil) }
        result = next.partialValue
      }
      return .some(result)
    default: return nil
    }
  }

  /// The result for two sizes.
  fileprivate func size(_ a: SymbolicSize, _ b: SymbolicSize) -> SymbolicSize {
    switch self {
    case .multiply: .product(a, b)
    case .divide: .quotient(a, b, isWhole: false)
    case .floorDivide: .quotient(a, b, isWhole: true)
    default: .combined(a, b) { value([$0, $1]) }
    }
  }
}

extension Expression {
  /// Whether every value is 0 or 1.
  fileprivate var isCondition: Bool {
    guard case .apply(let function, _) = node else { return false }
    return function.isComparison || [.logicalAnd, .logicalOr, .logicalNot].contains(function)
  }
}
