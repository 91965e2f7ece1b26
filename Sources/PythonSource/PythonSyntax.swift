import TensorCore

/// A position in a source file; line and column start at 1.
package struct PythonPosition: Hashable, Comparable, Sendable {
  package var line: Int
  package var column: Int

  package static func < (a: PythonPosition, b: PythonPosition) -> Bool {
    (a.line, a.column) < (b.line, b.column)
  }
}

package struct PythonExpression: Sendable {
  package enum Grouping: Sendable { case list, set, generator, dictionary }

  package indirect enum Kind: Sendable {
    case none
    case ellipsis
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case name(String)
    case tuple([PythonExpression])
    case list([PythonExpression])
    case set([PythonExpression])
    /// Elements without a key are dictionaries to merge, as in `**other`.
    case dictionary([(key: PythonExpression?, value: PythonExpression)])
    case starred(PythonExpression)
    case unary(String, PythonExpression)
    case binary(String, PythonExpression, PythonExpression)
    case comparison(PythonExpression, [(name: String, value: PythonExpression)])
    case logical(isAnd: Bool, [PythonExpression])
    case choice(test: PythonExpression, value: PythonExpression, otherwise: PythonExpression)
    case call(PythonExpression, [PythonArgument])
    case attribute(PythonExpression, String)
    case element(PythonExpression, PythonExpression)
    case slice(PythonExpression?, PythonExpression?, PythonExpression?)
    case lambda([PythonParameter], PythonExpression)
    /// A dictionary comprehension's value is a tuple of key and value.
    case comprehension(Grouping, PythonExpression, [PythonClause])
    /// Strings and formatted values, each with its format.
    case formatted([(value: PythonExpression, format: String)])
    case assignment(String, PythonExpression)
    /// Syntax that is parsed but cannot be interpreted, such as `yield`.
    case unsupported(String)
  }

  package let kind: Kind
  package let position: PythonPosition
  /// The nesting depth of the expression.
  let height: Int

  package static let heightLimit = 100

  init(kind: Kind, position: PythonPosition, height: Int) {
    (self.kind, self.position, self.height) = (kind, position, height)
  }

  /// A variable.
  package init(name: String, at position: PythonPosition) {
    self.init(kind: .name(name), position: position, height: 1)
  }
}

package struct PythonArgument: Sendable {
  package enum Form: Sendable { case plain, elements, members }

  package var form = Form.plain
  package var name: String?
  package var value: PythonExpression
}

package struct PythonParameter: Sendable {
  package enum Form: Sendable { case plain, keywordOnly, elements, members }

  package var form = Form.plain
  package var name: String
  package var standard: PythonExpression?
}

/// A `for` clause of a comprehension, with its conditions.
package struct PythonClause: Sendable {
  package var target: PythonExpression
  package var values: PythonExpression
  package var conditions: [PythonExpression]
}

package struct PythonStatement: Sendable {
  package indirect enum Kind: Sendable {
    case expression(PythonExpression)
    case assign([PythonExpression], PythonExpression)
    case change(PythonExpression, String, PythonExpression)
    case result(PythonExpression?)
    case nothing
    case stop
    case next
    case raise(PythonExpression?)
    case branch(
      [(test: PythonExpression, body: [PythonStatement])], otherwise: [PythonStatement])
    case whileLoop(PythonExpression, [PythonStatement], otherwise: [PythonStatement])
    case forLoop(
      PythonExpression, PythonExpression, [PythonStatement], otherwise: [PythonStatement])
    case with([(value: PythonExpression, target: PythonExpression?)], [PythonStatement])
    case attempt([PythonStatement], handlers: [[PythonStatement]], finally: [PythonStatement])
    case function(PythonFunctionDefinition)
    case type(PythonClassDefinition)
    case importModule([(path: String, name: String?)])
    case importNames(from: String, [(name: String, alias: String?)])
    case global([String])
    case nonlocal([String])
    case unsupported(String)
  }

  package let kind: Kind
  package let position: PythonPosition

  package init(kind: Kind, position: PythonPosition) {
    (self.kind, self.position) = (kind, position)
  }
}

package struct PythonFunctionDefinition: Sendable {
  package var name: String
  package var parameters: [PythonParameter]
  package var body: [PythonStatement]
  package var decorators: [PythonExpression]
  package var position: PythonPosition
  /// Why the function is not a plain one, such as `yield`; nil if it is.
  package var unsupported: String?

  package init(
    name: String, parameters: [PythonParameter], body: [PythonStatement],
    decorators: [PythonExpression], position: PythonPosition, unsupported: String?
  ) {
    (self.name, self.parameters, self.body) = (name, parameters, body)
    (self.decorators, self.position, self.unsupported) = (decorators, position, unsupported)
  }
}

package struct PythonClassDefinition: Sendable {
  package var name: String
  package var bases: [PythonArgument]
  package var body: [PythonStatement]
  package var decorators: [PythonExpression]
  package var position: PythonPosition
}

/// A parsed Python file.
package struct PythonModule: Sendable {
  package var statements: [PythonStatement]
  /// Whether `/` divides integers to an integer, as in Python 2.
  package var dividesWhole: Bool

  package static let byteLimit = PythonTokens.byteLimit

  /// - Throws: an error with line and column if the text is not Python 2.7 or 3.
  package init(parsing text: [UInt8]) throws {
    try require(text.count <= PythonTokens.byteLimit, .limitExceeded, "it has \(text.count) bytes")
    var parser = PythonParser(try PythonTokens(text, at: .init(line: 1, column: 1)).tokens)
    statements = try parser.file()
    dividesWhole = parser.isPython2 && !parser.dividesExactly
  }
}
