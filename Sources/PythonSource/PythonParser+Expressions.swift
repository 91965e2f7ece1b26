import TensorCore

extension PythonParser {
  func node(
    _ kind: PythonExpression.Kind, _ position: PythonPosition, _ parts: [PythonExpression] = []
  ) throws -> PythonExpression {
    let height = (parts.map(\.height).max() ?? 0) + 1
    try require(
      height <= PythonExpression.heightLimit, .limitExceeded,
      "\(position): an expression is nested too deeply")
    return PythonExpression(kind: kind, position: position, height: height)
  }

  /// Comma-separated expressions; a tuple if there is a comma.
  mutating func list() throws -> PythonExpression {
    let position = token.position
    if sees("yield") { return try expression() }
    let first = try element()
    guard sees(",") else { return first }
    var elements = [first]
    while takes(","), startsExpression { elements.append(try element()) }
    return try node(.tuple(elements), position, elements)
  }

  private var startsExpression: Bool {
    switch token.kind {
    case .name: !["in", "for", "if", "else", "as", "and", "or", "is"].contains(token.text)
    case .number, .string: true
    case .symbol: ["(", "[", "{", "-", "+", "~", "*", "..."].contains(token.text)
    default: false
    }
  }

  private mutating func element() throws -> PythonExpression {
    let position = token.position
    guard takes("*") else { return try assignable() }
    let inner = try operation(5)
    return try node(.starred(inner), position, [inner])
  }

  /// The targets of a loop.
  mutating func targets() throws -> PythonExpression {
    let position = token.position
    func target(_ parser: inout Self) throws -> PythonExpression {
      let position = parser.token.position
      guard parser.takes("*") else { return try parser.operation(5) }
      let inner = try parser.operation(5)
      return try parser.node(.starred(inner), position, [inner])
    }
    let first = try target(&self)
    guard sees(",") else { return first }
    var elements = [first]
    while takes(","), startsExpression { elements.append(try target(&self)) }
    return try node(.tuple(elements), position, elements)
  }

  /// An expression, or an assignment `name := value`.
  mutating func assignable() throws -> PythonExpression {
    let position = token.position
    let value = try expression()
    guard sees(":="), case .name(let name) = value.kind else { return value }
    take()
    let assigned = try expression()
    return try node(.assignment(name, assigned), position, [assigned])
  }

  mutating func expression() throws -> PythonExpression { try deeper { try $0.choice() } }

  private mutating func choice() throws -> PythonExpression {
    let position = token.position
    if takes("lambda") {
      let parameters = try parameters(until: ":", isAnnotated: false)
      try expect(":")
      let body = try expression()
      return try node(.lambda(parameters, body), position, [body])
    }
    if takes("yield") {
      generator = generator ?? "yield"
      _ = takes("from")
      if startsExpression { _ = try list() }
      return try node(.unsupported("'yield'"), position)
    }
    let value = try operation(1)
    guard takes("if") else { return value }
    let test = try operation(1)
    try expect("else")
    let otherwise = try expression()
    return try node(
      .choice(test: test, value: value, otherwise: otherwise), position, [value, test, otherwise])
  }

  // MARK: Operators

  private static let precedences = [
    "or": 1, "and": 2, "in": 4, "is": 4, "not": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4,
    "!=": 4, "<>": 4, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10,
    "//": 10, "%": 10, "@": 10,
  ]

  /// Parses operators of at least this precedence; 5 is the lowest one above comparisons.
  mutating func operation(_ minimum: Int) throws -> PythonExpression {
    let position = token.position
    var left = try operand()
    while token.kind == .symbol || token.kind == .name,
      let precedence = Self.precedences[token.text], precedence >= minimum
    {
      if precedence == 4 {
        left = try comparison(left, position)
        continue
      }
      let name = take().text
      if precedence < 3 {
        var parts = [left, try operation(precedence + 1)]
        while takes(name) { parts.append(try operation(precedence + 1)) }
        left = try node(.logical(isAnd: name == "and", parts), position, parts)
      } else {
        let right = try operation(precedence + 1)
        left = try node(.binary(name, left, right), position, [left, right])
      }
    }
    return left
  }

  private mutating func comparison(
    _ first: PythonExpression, _ position: PythonPosition
  ) throws -> PythonExpression {
    var rest: [(name: String, value: PythonExpression)] = []
    while token.kind == .symbol || token.kind == .name, Self.precedences[token.text] == 4 {
      var name = take().text
      if name == "not" {
        try expect("in")
        name = "not in"
      } else if name == "is", takes("not") {
        name = "is not"
      } else if name == "<>" {
        name = "!="
      }
      rest.append((name, try operation(5)))
    }
    return try node(.comparison(first, rest), position, [first] + rest.map(\.value))
  }

  private mutating func operand() throws -> PythonExpression {
    let position = token.position
    if takes("not") {
      let inner = try deeper { try $0.operation(4) }
      return try node(.unary("not", inner), position, [inner])
    }
    if sees("-") || sees("+") || sees("~") {
      let name = take().text
      let inner = try deeper { try $0.operand() }
      return try node(.unary(name, inner), position, [inner])
    }
    if sees("await") { throw ModelError(.unsupported, "\(position): 'await' is not supported") }
    let base = try primary()
    guard takes("**") else { return base }
    let exponent = try deeper { try $0.operand() }
    return try node(.binary("**", base, exponent), position, [base, exponent])
  }

  private mutating func primary() throws -> PythonExpression {
    let position = token.position
    var value = try atom()
    while true {
      if takes(".") {
        value = try node(.attribute(value, try attributeName()), position, [value])
      } else if takes("(") {
        let arguments = try arguments()
        value = try node(.call(value, arguments), position, [value] + arguments.map(\.value))
      } else if takes("[") {
        let index = try index()
        value = try node(.element(value, index), position, [value, index])
      } else {
        return value
      }
    }
  }

  /// Python 2 reserves `print` and `exec`, but not `None`.
  private mutating func attributeName() throws -> String {
    guard token.kind == .name else { throw unexpected("a name") }
    return take().text
  }

  mutating func arguments() throws -> [PythonArgument] {
    var arguments: [PythonArgument] = []
    while !sees(")") {
      if takes("**") {
        arguments.append(PythonArgument(form: .members, value: try expression()))
      } else if takes("*") {
        arguments.append(PythonArgument(form: .elements, value: try expression()))
      } else {
        var value = try assignable()
        if sees("="), case .name(let name) = value.kind {
          take()
          value = try expression()
          arguments.append(PythonArgument(name: name, value: value))
        } else {
          if sees("for") || sees("async") {
            value = try comprehension(.generator, value, value.position)
          }
          arguments.append(PythonArgument(value: value))
        }
      }
      guard takes(",") else { break }
    }
    try expect(")")
    return arguments
  }

  private mutating func index() throws -> PythonExpression {
    let position = token.position
    var items: [PythonExpression] = []
    var isTuple = false
    while !sees("]") {
      items.append(try slice())
      guard takes(",") else { break }
      isTuple = true
    }
    try expect("]")
    guard let first = items.first else { throw unexpected("an index") }
    return isTuple ? try node(.tuple(items), position, items) : first
  }

  private mutating func slice() throws -> PythonExpression {
    let position = token.position
    var bounds: [PythonExpression?] = [nil, nil, nil]
    var place = 0
    while place < 3 {
      if !sees(":"), !sees(","), !sees("]") { bounds[place] = try element() }
      guard place < 2, takes(":") else { break }
      place += 1
    }
    if place == 0 {
      guard let index = bounds[0] else { throw unexpected("an index") }
      return index
    }
    return try node(.slice(bounds[0], bounds[1], bounds[2]), position, bounds.compactMap { $0 })
  }

  // MARK: Values

  private mutating func atom() throws -> PythonExpression {
    let position = token.position
    switch token.kind {
    case .number: return try node(number(), position)
    case .string: return try strings()
    case .name:
      switch token.text {
      case "None", "True", "False":
        let word = take().text
        return try node(word == "None" ? .none : .bool(word == "True"), position)
      default: return try node(.name(try name()), position)
      }
    case .symbol:
      if takes("...") { return try node(.ellipsis, position) }
      if takes("(") { return try deeper { try $0.parenthesized(position) } }
      if takes("[") { return try deeper { try $0.bracketed(position) } }
      if takes("{") { return try deeper { try $0.braced(position) } }
    default: break
    }
    throw unexpected("an expression")
  }

  private mutating func parenthesized(_ position: PythonPosition) throws -> PythonExpression {
    if takes(")") { return try node(.tuple([]), position) }
    let value = try list()
    if sees("for") || sees("async") {
      let result = try comprehension(.generator, value, position)
      try expect(")")
      return result
    }
    try expect(")")
    return value
  }

  private mutating func bracketed(_ position: PythonPosition) throws -> PythonExpression {
    var elements: [PythonExpression] = []
    while !sees("]") {
      elements.append(try element())
      if elements.count == 1, sees("for") || sees("async") {
        let result = try comprehension(.list, elements[0], position)
        try expect("]")
        return result
      }
      guard takes(",") else { break }
    }
    try expect("]")
    return try node(.list(elements), position, elements)
  }

  private mutating func braced(_ position: PythonPosition) throws -> PythonExpression {
    var members: [(key: PythonExpression?, value: PythonExpression)] = []
    var elements: [PythonExpression] = []
    while !sees("}") {
      if takes("**") {
        members.append((nil, try operation(5)))
      } else {
        let first = try element()
        if takes(":") { members.append((first, try expression())) } else { elements.append(first) }
      }
      if members.count + elements.count == 1, sees("for") || sees("async") {
        var value = elements.first
        if let member = members.first, let key = member.key {
          value = try node(.tuple([key, member.value]), position, [key, member.value])
        }
        guard let value else { throw unexpected("'}'") }
        let result = try comprehension(members.isEmpty ? .set : .dictionary, value, position)
        try expect("}")
        return result
      }
      guard takes(",") else { break }
    }
    try expect("}")
    guard elements.isEmpty || members.isEmpty else { throw unexpected("a key and a value") }
    return elements.isEmpty
      ? try node(.dictionary(members), position, members.map(\.value) + members.compactMap(\.key))
      : try node(.set(elements), position, elements)
  }

  private mutating func comprehension(
    _ grouping: PythonExpression.Grouping, _ value: PythonExpression, _ position: PythonPosition
  ) throws -> PythonExpression {
    var clauses: [PythonClause] = []
    while sees("for") || sees("async") {
      guard takes("for") else {
        throw ModelError(.unsupported, "\(token.position): 'async' is not supported here")
      }
      let target = try targets()
      try expect("in")
      var clause = PythonClause(target: target, values: try operation(1), conditions: [])
      while takes("if") { clause.conditions.append(try operation(1)) }
      clauses.append(clause)
    }
    let parts = [value] + clauses.flatMap { [$0.target, $0.values] + $0.conditions }
    return try node(.comprehension(grouping, value, clauses), position, parts)
  }

  private mutating func number() throws -> PythonExpression.Kind {
    let word = take()
    var text = word.text.lowercased().filter { $0 != "_" }
    if text.hasSuffix("l") { text.removeLast() }
    if text.hasSuffix("j"), !text.hasPrefix("0x") { return .unsupported("a complex number") }
    let radix = ["0x": 16, "0o": 8, "0b": 2][String(text.prefix(2))]
    let value: Int?
    if let radix {
      value = Int(text.dropFirst(2), radix: radix)
    } else if text.allSatisfy(\.isWholeNumber) {
      value = Int(text, radix: text.hasPrefix("0") ? 8 : 10)
      if value == nil, text.count > 18 { return .unsupported("a number of so many digits") }
    } else if let number = Double(text), !text.hasPrefix("0x") {
      return .double(number)
    } else {
      value = nil
    }
    guard let value else {
      throw ModelError(.malformed, "\(word.position): '\(word.text.prefix(40))' is not a number")
    }
    return .int(value)
  }
}
