import TensorCore

extension Expression {
  package static let textLimit = 16 << 10

  /// Parses a formula in Python's syntax: `x * sigmoid(beta * x)`, `x[:, 2:-2, 2:-2]`.
  ///
  /// - Parameter names: the names that it may use; nil allows all.
  /// - Throws: `ModelError` with the column, counted from 1.
  package init(parsing text: String, names: Set<String>? = nil) throws {
    try require(
      text.utf8.count <= Self.textLimit, .limitExceeded,
      "the formula has \(text.utf8.count) bytes; the limit is \(Self.textLimit)")
    var parser = try ExpressionParser(text, names)
    self = try parser.whole()
  }
}

private struct ExpressionParser {
  private enum Token: Equatable {
    case number(Double)
    /// Integers are recognized by value, not by notation.
    case name(String)
    case symbol(String)
    case end

    var text: String {
      switch self {
      case .number(let value): Int(exactly: value).map(String.init) ?? "\(value)"
      case .name(let name): name
      case .symbol(let symbol): symbol
      case .end: "the end"
      }
    }
  }

  private var tokens: [(token: Token, column: Int)] = []
  private var position = 0
  private var depth = 0
  private let names: Set<String>?

  private static let constants: [String: Double] = [
    "pi": .pi, "inf": .infinity, "nan": .nan, "True": 1, "False": 0,
  ]

  private static let doubleSymbols: Set<String> = ["**", "//", "<=", ">=", "==", "!="]
  private static let singleSymbols = "+-*/%<>=()[],:&|"

  init(_ text: String, _ names: Set<String>?) throws {
    self.names = names
    let characters = Array(text)
    var index = 0
    func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
    func isNamePart(_ character: Character) -> Bool {
      character == "_" || character.isASCII && (character.isLetter || character.isNumber)
    }
    while index < characters.count {
      let start = index
      let character = characters[index]
      if character.isWhitespace {
        index += 1
        continue
      }
      let next: Character? = index + 1 < characters.count ? characters[index + 1] : nil
      if isDigit(character) || character == "." && next.map(isDigit) == true {
        while index < characters.count, isDigit(characters[index]) || characters[index] == "." {
          index += 1
        }
        if index < characters.count, "eE".contains(characters[index]) {
          var end = index + 1
          if end < characters.count, "+-".contains(characters[end]) { end += 1 }
          if end < characters.count, isDigit(characters[end]) {
            while end < characters.count, isDigit(characters[end]) { end += 1 }
            index = end
          }
        }
        guard let value = Double(String(characters[start..<index]).completed) else {
          throw Self.error(start + 1, "'\(String(characters[start..<index]))' is not a number")
        }
        tokens.append((.number(value), start + 1))
      } else if isNamePart(character) {
        while index < characters.count, isNamePart(characters[index]) { index += 1 }
        tokens.append((.name(String(characters[start..<index])), start + 1))
      } else if characters[index...].starts(with: "...") {
        index += 3
        tokens.append((.symbol("..."), start + 1))
      } else if let next, Self.doubleSymbols.contains("\(character)\(next)") {
        index += 2
        tokens.append((.symbol("\(character)\(next)"), start + 1))
      } else if Self.singleSymbols.contains(character) {
        index += 1
        tokens.append((.symbol(String(character)), start + 1))
      } else {
        throw Self.error(
          start + 1, "unexpected '\(character)'",
          hint: character == "^" ? "write a power as x ** 2" : nil)
      }
    }
    tokens.append((.end, characters.count + 1))
  }

  private static func error(_ column: Int, _ message: String, hint: String? = nil) -> ModelError {
    ModelError(.malformed, "column \(column): \(message)", hint: hint)
  }

  private var token: Token { tokens[position].token }
  private var column: Int { tokens[position].column }

  private mutating func advance() { if position < tokens.count - 1 { position += 1 } }

  private mutating func take(_ symbol: String) -> Bool {
    guard token == .symbol(symbol) else { return false }
    advance()
    return true
  }

  private mutating func expect(_ symbol: String, after opening: Int) throws {
    guard take(symbol) else {
      throw Self.error(
        column, "expected '\(symbol)' to match column \(opening), found \(token.text)")
    }
  }

  /// Adds the column to errors from `body` that lack one.
  private func located(_ column: Int, _ body: () throws -> Expression) throws -> Expression {
    do { return try body() } catch var error as ModelError {
      if !error.message.hasPrefix("column ") {
        error.message = "column \(column): \(error.message)"
      }
      throw error
    }
  }

  mutating func whole() throws -> Expression {
    let expression = try condition()
    guard token == .end else { throw Self.error(column, "unexpected \(token.text)") }
    return expression
  }

  private mutating func nested<Value>(_ body: (inout Self) throws -> Value) throws -> Value {
    depth += 1
    defer { depth -= 1 }
    try require(
      depth <= Expression.depthLimit, .limitExceeded,
      "column \(column): more than \(Expression.depthLimit) levels of nesting")
    return try body(&self)
  }

  private mutating func condition() throws -> Expression {
    try nested { parser in
      try parser.chain(["&", "|"]) {
        try $0.comparison()
      } join: { symbol, a, b in
        try .apply(symbol == "&" ? .logicalAnd : .logicalOr, a, b)
      }
    }
  }

  private static let comparisons = ElementFunction.operators.filter(\.value.isComparison)

  private mutating func comparison() throws -> Expression {
    let left = try sum()
    guard case .symbol(let symbol) = token, let function = Self.comparisons[symbol] else {
      return left
    }
    let origin = column
    advance()
    let right = try sum()
    if case .symbol(let next) = token, Self.comparisons[next] != nil {
      throw Self.error(column, "comparisons do not chain", hint: "write (a < b) & (b < c)")
    }
    return try located(origin) { try .apply(function, left, right) }
  }

  private mutating func sum() throws -> Expression {
    try chain(["+", "-"]) {
      try $0.product()
    } join: { symbol, a, b in
      try .apply(ElementFunction.operators[symbol] ?? .add, a, b)
    }
  }

  private mutating func product() throws -> Expression {
    try chain(["*", "/", "//", "%"]) {
      try $0.signed()
    } join: { symbol, a, b in
      try .apply(ElementFunction.operators[symbol] ?? .multiply, a, b)
    }
  }

  private mutating func chain(
    _ symbols: Set<String>, _ operand: (inout Self) throws -> Expression,
    join: (String, Expression, Expression) throws -> Expression
  ) throws -> Expression {
    var left = try operand(&self)
    while case .symbol(let symbol) = token, symbols.contains(symbol) {
      let origin = column
      advance()
      let right = try operand(&self)
      left = try located(origin) { try join(symbol, left, right) }
    }
    return left
  }

  private mutating func signed() throws -> Expression {
    if take("+") { return try nested { try $0.signed() } }
    let origin = column
    if take("-") {
      let operand = try nested { try $0.signed() }
      return try located(origin) { try .apply(.negative, operand) }
    }
    return try power()
  }

  private mutating func power() throws -> Expression {
    let base = try postfix()
    let origin = column
    guard take("**") else { return base }
    let exponent = try nested { try $0.signed() }
    return try located(origin) { try .apply(.power, base, exponent) }
  }

  private mutating func postfix() throws -> Expression {
    var expression = try atom()
    while token == .symbol("[") {
      let opening = column
      advance()
      var items: [Expression.SliceItem] = []
      repeat { items.append(try item()) } while take(",") && token != .symbol("]")
      try expect("]", after: opening)
      guard items.count <= 2 * Limits.rank else {
        throw Self.error(opening, "more than \(2 * Limits.rank) indices")
      }
      let operand = expression
      expression = try located(opening) { try Expression(.slice(operand, items)) }
    }
    return expression
  }

  private mutating func atom() throws -> Expression {
    let origin = column
    switch token {
    case .number(let value):
      advance()
      return .number(value)
    case .name(let name):
      advance()
      if token == .symbol("(") { return try call(name, origin) }
      if names?.contains(name) ?? false { return .name(name) }
      if let value = Self.constants[name] { return .number(value) }
      if names == nil { return .name(name) }
      throw Self.error(
        origin, "unknown name '\(name)'",
        hint: "known names are " + (names ?? []).sorted().joined(separator: ", "))
    case .symbol("("):
      advance()
      let inner = try condition()
      try expect(")", after: origin)
      return inner
    default: throw Self.error(origin, "expected an expression, found \(token.text)")
    }
  }

  private mutating func call(_ name: String, _ origin: Int) throws -> Expression {
    let opening = column
    advance()
    var positional: [FunctionArgument] = []
    var keywords: [(name: String, value: FunctionArgument)] = []
    while token != .symbol(")") {
      if case .name(let keyword) = token, position + 1 < tokens.count,
        tokens[position + 1].token == .symbol("=")
      {
        advance()
        advance()
        keywords.append((keyword, try argument()))
      } else {
        guard keywords.isEmpty else {
          throw Self.error(column, "a positional argument after a named one")
        }
        positional.append(try argument())
      }
      guard take(",") else { break }
    }
    try expect(")", after: opening)
    return try located(origin) { try FunctionCatalog.call(name, positional, keywords) }
  }

  private mutating func argument() throws -> FunctionArgument {
    if token == .name("None"), names?.contains("None") != true {
      advance()
      return .none
    }
    let start = position
    if take("(") || take("[") {
      var list: [Int] = []
      while let number = try? wholeNumber() {
        list.append(number)
        if !take(",") { break }
      }
      let isList = list.count > 1 || tokens[position - 1].token == .symbol(",")
      if isList || tokens[start].token == .symbol("["), take(")") || take("]") {
        return .list(list)
      }
      position = start
    }
    return .expression(try condition())
  }

  /// The item between two commas in a pair of brackets.
  private mutating func item() throws -> Expression.SliceItem {
    if take("...") { return .ellipsis }
    if token == .name("None") || token == .name("newaxis") {
      advance()
      return .newAxis
    }
    var bounds: [Int?] = [nil]
    while token != .symbol(",") && token != .symbol("]") {
      let origin = column
      if take(":") {
        guard bounds.count < 3 else { throw Self.error(origin, "a third ':'") }
        bounds.append(nil)
      } else {
        guard bounds[bounds.count - 1] == nil else {
          throw Self.error(origin, "unexpected \(token.text)")
        }
        bounds[bounds.count - 1] = try wholeNumber()
      }
    }
    if bounds.count == 1 {
      guard let index = bounds[0] else { throw Self.error(column, "an index is missing") }
      return .index(index)
    }
    let step = bounds.count == 3 ? bounds[2] ?? 1 : 1
    guard step != 0 else { throw Self.error(column, "its step is 0") }
    return .range(start: bounds[0], end: bounds[1], step: step)
  }

  private mutating func wholeNumber() throws -> Int {
    let origin = column
    let isNegative = take("-")
    guard case .number(let value) = token, let number = Int(exactly: value),
      number <= Limits.dimension
    else { throw Self.error(origin, "\(token.text) is not an integer") }
    advance()
    return isNegative ? -number : number
  }
}

extension String {
  /// `1.` and `.5` with the zeros that Swift requires.
  fileprivate var completed: String {
    var text = self
    if text.hasPrefix(".") { text = "0" + text }
    if text.hasSuffix(".") { return text + "0" }
    for mark in [".e", ".E"] {
      if let range = text.firstRange(of: mark) { text.replaceSubrange(range, with: ".0e") }
    }
    return text
  }
}
