/// The names that a function's body binds, and the names that nested functions use.
package struct PythonNames {
  package private(set) var bound: Set<String> = []
  package private(set) var global: Set<String> = []
  package private(set) var nonlocal: Set<String> = []
  package private(set) var inner: Set<String> = []

  package init(_ body: [PythonStatement]) {
    for statement in body { add(statement, isInner: false) }
    bound.subtract(global.union(nonlocal))
  }

  package init(_ expression: PythonExpression) { add(expression, isInner: false) }

  private mutating func add(_ statement: PythonStatement, isInner: Bool) {
    let parts = statement.parts
    for expression in parts.values { add(expression, isInner: isInner) }
    for target in parts.targets {
      add(target, isInner: isInner)
      if !isInner { bind(target) }
    }
    for inner in parts.body { add(inner, isInner: isInner) }
    for inner in parts.inner { add(inner, isInner: true) }
    guard !isInner else { return }
    bound.formUnion(parts.names)
    switch statement.kind {
    case .global(let names): global.formUnion(names)
    case .nonlocal(let names): nonlocal.formUnion(names)
    default: break
    }
  }

  private mutating func add(_ expression: PythonExpression, isInner: Bool) {
    var isInner = isInner
    switch expression.kind {
    case .name(let name): if isInner { inner.insert(name) }
    case .assignment(let name, _): if !isInner { bound.insert(name) }
    case .lambda: isInner = true
    default: break
    }
    for part in expression.parts { add(part, isInner: isInner) }
  }

  private mutating func bind(_ target: PythonExpression) {
    switch target.kind {
    case .name(let name): bound.insert(name)
    case .tuple(let parts), .list(let parts): for part in parts { bind(part) }
    case .starred(let part): bind(part)
    default: break
    }
  }
}

extension PythonExpression {
  /// The direct subexpressions.
  package var parts: [PythonExpression] {
    switch kind {
    case .none, .ellipsis, .bool, .int, .double, .string, .name, .unsupported: []
    case .tuple(let parts), .list(let parts), .set(let parts), .logical(_, let parts): parts
    case .dictionary(let members): members.flatMap { ($0.key.map { [$0] } ?? []) + [$0.value] }
    case .starred(let part), .unary(_, let part), .attribute(let part, _),
      .assignment(_, let part):
      [part]
    case .binary(_, let left, let right): [left, right]
    case .comparison(let first, let rest): [first] + rest.map(\.value)
    case .choice(let test, let value, let otherwise): [test, value, otherwise]
    case .call(let function, let arguments): [function] + arguments.map(\.value)
    case .element(let value, let index): [value, index]
    case .slice(let start, let end, let step): [start, end, step].compactMap { $0 }
    case .lambda(let parameters, let body): parameters.compactMap(\.standard) + [body]
    case .comprehension(_, let value, let clauses):
      [value] + clauses.flatMap { [$0.target, $0.values] + $0.conditions }
    case .formatted(let parts): parts.map(\.value)
    }
  }
}

extension PythonStatement {
  fileprivate struct Parts {
    var values: [PythonExpression] = []
    var targets: [PythonExpression] = []
    var names: [String] = []
    var body: [PythonStatement] = []
    /// The bodies of functions and classes.
    var inner: [PythonStatement] = []
  }

  fileprivate var parts: Parts {
    var parts = Parts()
    switch kind {
    case .expression(let value): parts.values = [value]
    case .assign(let targets, let value): (parts.targets, parts.values) = (targets, [value])
    case .change(let target, _, let value): (parts.targets, parts.values) = ([target], [value])
    case .result(let value): parts.values = value.map { [$0] } ?? []
    case .nothing, .stop, .next, .raise, .global, .nonlocal, .unsupported: break
    case .branch(let branches, let otherwise):
      parts.values = branches.map(\.test)
      parts.body = branches.flatMap(\.body) + otherwise
    case .whileLoop(let test, let body, let otherwise):
      (parts.values, parts.body) = ([test], body + otherwise)
    case .forLoop(let target, let values, let body, let otherwise):
      (parts.targets, parts.values, parts.body) = ([target], [values], body + otherwise)
    case .with(let items, let body):
      parts.values = items.map(\.value)
      (parts.targets, parts.body) = (items.compactMap(\.target), body)
    case .attempt(let body, let handlers, let finally):
      parts.body = body + handlers.flatMap { $0 } + finally
    case .function(let function):
      parts.values = function.decorators + function.parameters.compactMap(\.standard)
      (parts.names, parts.inner) = ([function.name], function.body)
    case .type(let type):
      parts.values = type.decorators + type.bases.map(\.value)
      (parts.names, parts.inner) = ([type.name], type.body)
    case .importModule(let modules):
      parts.names = modules.map { $0.name ?? String($0.path.prefix { $0 != "." }) }
    case .importNames(_, let names): parts.names = names.map { $0.alias ?? $0.name }
    }
    return parts
  }
}
