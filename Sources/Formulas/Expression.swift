import TensorCore

/// A formula: an expression of arrays, which are broadcast as in numpy.
package struct Expression: Sendable, Hashable {
  package indirect enum Node: Sendable, Hashable {
    case number(Double)
    /// An input, a parameter or a weight.
    case name(String)
    case apply(ElementFunction, [Expression])
    /// Reduces `axes`, or all axes if nil. With `keepsAxes`, reduced axes keep one element;
    /// otherwise they are removed.
    case reduce(Reduction, Expression, axes: [Int]?, keepsAxes: Bool)
    case slice(Expression, [SliceItem])
  }

  package enum Reduction: String, Sendable, CaseIterable {
    case sum, mean, max, min
    case product = "prod"
  }

  /// An item between brackets, one per axis.
  package enum SliceItem: Sendable, Hashable {
    /// One element; the axis is removed.
    case index(Int)
    /// `start:end:step`; negative bounds count from the end.
    case range(start: Int?, end: Int?, step: Int)
    /// All axes without another item.
    case ellipsis
    /// A new axis with one element.
    case newAxis

    package static let all = SliceItem.range(start: nil, end: nil, step: 1)
  }

  package let node: Node
  /// The number of nodes.
  package let count: Int
  package let depth: Int

  package static let countLimit = 4096
  package static let depthLimit = 100

  /// - Throws: `ModelError` if there are too many nodes, or they are nested too deeply.
  package init(_ node: Node) throws {
    let children = Self.operands(of: node)
    count = children.reduce(1) { $0 + $1.count }
    depth = 1 + (children.map(\.depth).max() ?? 0)
    self.node = node
    guard count <= Self.countLimit, depth <= Self.depthLimit else {
      throw ModelError(
        .limitExceeded,
        "the formula is too long: the limits are \(Self.countLimit) operations and \(Self.depthLimit) levels of nesting"
      )
    }
  }

  private init(leaf: Node) {
    node = leaf
    count = 1
    depth = 1
  }

  package static func number(_ value: Double) -> Expression { Expression(leaf: .number(value)) }
  package static func name(_ name: String) -> Expression { Expression(leaf: .name(name)) }

  /// Evaluates the function immediately if all operands are numbers.
  package static func apply(
    _ function: ElementFunction, _ operands: Expression...
  ) throws -> Expression { try apply(function, operands) }

  package static func apply(
    _ function: ElementFunction, _ operands: [Expression]
  ) throws -> Expression {
    let numbers = operands.compactMap(\.number)
    if numbers.count == operands.count { return .number(function.value(numbers)) }
    return try Expression(.apply(function, operands))
  }

  package var number: Double? { if case .number(let value) = node { value } else { nil } }

  package var operands: [Expression] { Self.operands(of: node) }

  private static func operands(of node: Node) -> [Expression] {
    switch node {
    case .number, .name: []
    case .apply(_, let operands): operands
    case .reduce(_, let operand, _, _), .slice(let operand, _): [operand]
    }
  }

  /// All names in the expression.
  package var names: Set<String> {
    if case .name(let name) = node { return [name] }
    return operands.reduce(into: []) { $0.formUnion($1.names) }
  }

  /// The expression with names replaced by other expressions.
  package func replacing(_ replacements: [String: Expression]) throws -> Expression {
    switch node {
    case .number: return self
    case .name(let name): return replacements[name] ?? self
    case .apply(let function, let operands):
      return try .apply(function, operands.map { try $0.replacing(replacements) })
    case .reduce(let reduction, let operand, let axes, let keepsAxes):
      return try Expression(
        .reduce(reduction, operand.replacing(replacements), axes: axes, keepsAxes: keepsAxes))
    case .slice(let operand, let items):
      return try Expression(.slice(operand.replacing(replacements), items))
    }
  }

  /// Whether each element of the result depends only on elements at the same position.
  package var isElementwise: Bool {
    switch node {
    case .number, .name: true
    case .apply(_, let operands): operands.allSatisfy(\.isElementwise)
    case .reduce, .slice: false
    }
  }
}
