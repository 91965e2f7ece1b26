import TensorCore

/// Parses statements. Code that is nested too deeply is an error.
struct PythonParser {
  private let tokens: [PythonToken]
  private var next = 0
  private var depth: Int
  /// Why the enclosing function is not a plain one, such as `yield`; nil if it is.
  var generator: String?
  private(set) var isPython2 = false
  private(set) var dividesExactly = false

  static let depthLimit = 80

  init(_ tokens: [PythonToken], depth: Int = 0) {
    self.tokens = tokens
    self.depth = depth
  }

  /// The expression in the braces of an f-string.
  func inner(_ text: String, _ position: PythonPosition) throws -> PythonExpression {
    let tokens = try PythonTokens(Array(text.utf8), at: position, isExpression: true).tokens
    var parser = PythonParser(tokens, depth: depth + 1)
    let value = try parser.list()
    guard parser.token.kind == .end else { throw parser.unexpected("'}'") }
    return value
  }

  // MARK: Tokens

  var token: PythonToken { tokens[min(next, tokens.count - 1)] }

  private func following(_ offset: Int = 1) -> PythonToken {
    tokens[min(next + offset, tokens.count - 1)]
  }

  @discardableResult mutating func take() -> PythonToken {
    defer { next += 1 }
    return token
  }

  func sees(_ text: String) -> Bool {
    (token.kind == .symbol || token.kind == .name) && token.text == text
  }

  /// Consumes this symbol or keyword if it comes next, and returns whether it did.
  mutating func takes(_ text: String) -> Bool {
    guard sees(text) else { return false }
    next += 1
    return true
  }

  mutating func expect(_ text: String) throws {
    guard takes(text) else { throw unexpected("'\(text)'") }
  }

  func unexpected(_ wanted: String) -> ModelError {
    let found =
      switch token.kind {
      case .newline, .end: "the line's end"
      case .indent, .dedent: "another indentation"
      case .string: "a string"
      default: "'\(token.text.prefix(40))'"
      }
    return ModelError(.malformed, "\(token.position): \(found) instead of \(wanted)")
  }

  mutating func deeper<Result>(_ body: (inout Self) throws -> Result) throws -> Result {
    try require(
      depth < Self.depthLimit, .limitExceeded, "\(token.position): it is nested too deeply")
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  private static let keywords: Set<String> = [
    "False", "None", "True", "and", "as", "assert", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
  ]

  mutating func name() throws -> String {
    guard token.kind == .name, !Self.keywords.contains(token.text) else {
      throw unexpected("a name")
    }
    return take().text
  }

  // MARK: Statements

  mutating func file() throws -> [PythonStatement] {
    var statements: [PythonStatement] = []
    while token.kind != .end {
      if token.kind == .newline { take() } else { statements += try statement() }
    }
    return statements
  }

  private mutating func block() throws -> [PythonStatement] {
    try expect(":")
    guard token.kind == .newline else { return try line() }
    take()
    guard token.kind == .indent else { throw unexpected("an indented block") }
    take()
    var statements: [PythonStatement] = []
    while token.kind != .dedent {
      guard token.kind != .end else { throw unexpected("a statement") }
      if token.kind == .newline { take() } else { statements += try statement() }
    }
    take()
    return statements
  }

  /// The statements of one line.
  private mutating func line() throws -> [PythonStatement] {
    var statements = [try simple()]
    while takes(";"), token.kind != .newline { statements.append(try simple()) }
    guard token.kind == .newline else { throw unexpected("the line's end") }
    take()
    return statements
  }

  private mutating func statement() throws -> [PythonStatement] {
    let position = token.position
    guard let kind = try deeper({ try $0.compound() }) else { return try line() }
    return [PythonStatement(kind: kind, position: position)]
  }

  private mutating func compound() throws -> PythonStatement.Kind? {
    let isAsync = sees("async") && ["def", "for", "with"].contains(following().text)
    if isAsync {
      take()
      if !sees("def") { generator = "async" }
    }
    if sees("@") || sees("def") || sees("class") { return try definition(isAsync) }
    if takes("if") {
      var branches = [(test: try assignable(), body: try block())]
      while takes("elif") { branches.append((test: try assignable(), body: try block())) }
      return .branch(branches, otherwise: try takes("else") ? block() : [])
    }
    if takes("while") {
      return .whileLoop(try assignable(), try block(), otherwise: try takes("else") ? block() : [])
    }
    if takes("for") {
      let target = try targets()
      try expect("in")
      return .forLoop(target, try list(), try block(), otherwise: try takes("else") ? block() : [])
    }
    if takes("try") { return try attempt() }
    if takes("with") { return try with() }
    let after = following()
    if sees("match") || sees("type"),
      after.kind == .name && !["in", "is", "and", "or", "not", "if"].contains(after.text)
        || after.kind == .string || after.kind == .number
    {
      throw ModelError(
        .unsupported, "\(token.position): the statement '\(token.text)' is not supported")
    }
    return nil
  }

  private mutating func definition(_ isAsync: Bool) throws -> PythonStatement.Kind {
    var decorators: [PythonExpression] = []
    while takes("@") {
      decorators.append(try assignable())
      while token.kind == .newline { take() }
    }
    let position = token.position
    if takes("class") {
      let name = try self.name()
      let bases = takes("(") ? try arguments() : []
      return .type(
        PythonClassDefinition(
          name: name, bases: bases, body: try block(), decorators: decorators, position: position))
    }
    let outer = generator
    generator = takes("async") || isAsync ? "async" : nil
    defer { generator = outer }
    try expect("def")
    let name = try self.name()
    try expect("(")
    let parameters = try parameters(until: ")", isAnnotated: true)
    try expect(")")
    if takes("->") { _ = try expression() }
    let body = try block()
    return .function(
      PythonFunctionDefinition(
        name: name, parameters: parameters, body: body, decorators: decorators,
        position: position, unsupported: generator))
  }

  mutating func parameters(until end: String, isAnnotated: Bool) throws -> [PythonParameter] {
    var parameters: [PythonParameter] = []
    var form = PythonParameter.Form.plain
    while !sees(end) {
      if takes("/") {
        // The parameters before it are positional-only, which makes no difference here.
      } else if takes("**") {
        parameters.append(PythonParameter(form: .members, name: try name()))
      } else if takes("*") {
        form = .keywordOnly
        if !sees(",") { parameters.append(PythonParameter(form: .elements, name: try name())) }
      } else {
        parameters.append(PythonParameter(form: form, name: try name()))
      }
      if isAnnotated, takes(":") { _ = try expression() }
      if takes("=") { parameters[parameters.count - 1].standard = try expression() }
      guard takes(",") else { break }
    }
    return parameters
  }

  private mutating func attempt() throws -> PythonStatement.Kind {
    let body = try block()
    var handlers: [[PythonStatement]] = []
    var finally: [PythonStatement] = []
    while takes("except") {
      _ = takes("*")
      if !sees(":") {
        _ = try expression()
        if takes(",") { _ = try list() }
        if takes("as") { _ = try name() }
      }
      handlers.append(try block())
    }
    // The `else` block runs after a body without exceptions, so it is appended.
    let rest = takes("else") ? try block() : []
    if takes("finally") { finally = try block() }
    return .attempt(body + rest, handlers: handlers, finally: finally)
  }

  private mutating func with() throws -> PythonStatement.Kind {
    var items: [(value: PythonExpression, target: PythonExpression?)] = []
    // Parentheses around several items, allowed since 3.9; without 'as', they form a tuple.
    let start = next
    if takes("("), let grouped = try? withItems(), takes(")"), sees(":") {
      items = grouped
    } else {
      next = start
      items = try withItems()
    }
    return .with(items, try block())
  }

  private mutating func withItems() throws -> [(value: PythonExpression, target: PythonExpression?)]
  {
    var items: [(value: PythonExpression, target: PythonExpression?)] = []
    repeat {
      if sees(")") { break }
      let value = try expression()
      items.append((value, takes("as") ? try operation(5) : nil))
    } while takes(",")
    return items
  }

  private mutating func simple() throws -> PythonStatement {
    let position = token.position
    return PythonStatement(kind: try simpleKind(), position: position)
  }

  private var endsStatement: Bool { token.kind == .newline || token.kind == .end || sees(";") }

  private mutating func simpleKind() throws -> PythonStatement.Kind {
    let position = token.position
    if takes("pass") { return .nothing }
    if takes("break") { return .stop }
    if takes("continue") { return .next }
    if takes("return") { return .result(endsStatement ? nil : try list()) }
    if takes("raise") {
      let error = endsStatement ? nil : try expression()
      while takes("from") || takes(",") { _ = try expression() }
      return .raise(error)
    }
    if takes("assert") {
      _ = try list()
      return .nothing
    }
    if takes("del") {
      let target = try list()
      switch target.kind {
      case .name: return .nothing
      case .element(let whole, let index):
        let pop = try node(.attribute(whole, "pop"), target.position, [whole])
        return .expression(
          try node(.call(pop, [PythonArgument(value: index)]), target.position, [pop, index]))
      default: return .unsupported("'del'")
      }
    }
    if takes("global") { return .global(try names()) }
    if takes("nonlocal") { return .nonlocal(try names()) }
    if takes("import") {
      return .importModule(
        try commaSeparated { parser in
          let path = try parser.path()
          return (path, try parser.takes("as") ? parser.name() : nil)
        })
    }
    if takes("from") { return try importNames() }
    if sees("print"), startsPrinted {
      take()
      isPython2 = true
      if takes(">>") { _ = try expression() }
      while !endsStatement { if !takes(",") { _ = try expression() } }
      return .nothing
    }
    let first = try list()
    if takes(":") {
      _ = try expression()
      return takes("=") ? .assign([first], try assigned()) : .nothing
    }
    if token.kind == .symbol, token.text.hasSuffix("="), token.text.utf8.count > 1,
      !["==", "!=", "<=", ">=", ":="].contains(token.text)
    {
      let name = String(take().text.dropLast())
      return .change(first, name, try assigned())
    }
    guard sees("=") else {
      if sees("`") { throw ModelError(.unsupported, "\(position): '`' is not supported") }
      return .expression(first)
    }
    var targets = [first]
    while takes("=") { targets.append(try assigned()) }
    let value = targets.removeLast()
    return .assign(targets, value)
  }

  private mutating func assigned() throws -> PythonExpression {
    sees("yield") ? try expression() : try list()
  }

  /// Whether the next token makes `print` a statement of Python 2.
  private var startsPrinted: Bool {
    let after = following()
    switch after.kind {
    case .string, .number: return true
    case .name: return !["in", "is", "and", "or", "if", "not"].contains(after.text)
    case .symbol: return after.text == ">>" || after.text == "{"
    case .newline, .end, .indent, .dedent: return false
    }
  }

  private mutating func names() throws -> [String] { try commaSeparated { try $0.name() } }

  private mutating func commaSeparated<Part>(_ part: (inout Self) throws -> Part) throws -> [Part] {
    var parts = [try part(&self)]
    while takes(","), !endsStatement, !sees(")") { parts.append(try part(&self)) }
    return parts
  }

  private mutating func path() throws -> String {
    var path = try name()
    while takes(".") { path += "." + (try name()) }
    return path
  }

  private mutating func importNames() throws -> PythonStatement.Kind {
    var path = ""
    while sees(".") || sees("...") { path += take().text }
    if !sees("import") { path += try self.path() }
    try expect("import")
    if takes("*") { return .importNames(from: path, [("*", nil)]) }
    let isGrouped = takes("(")
    let names = try commaSeparated { parser -> (name: String, alias: String?) in
      let name = try parser.name()
      return (name, try parser.takes("as") ? parser.name() : nil)
    }
    if isGrouped { try expect(")") }
    if path == "__future__", names.contains(where: { $0.name == "division" }) {
      dividesExactly = true
    }
    return .importNames(from: path, names)
  }
}
