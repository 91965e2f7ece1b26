import Formulas
import PythonSource
import TensorCore

extension PythonCompiler {
  // MARK: Expressions

  mutating func values(_ expressions: [PythonExpression]) throws {
    for expression in expressions { try value(expression) }
  }

  mutating func value(_ expression: PythonExpression) throws {
    let outer = position
    position = expression.position
    defer { position = outer }
    switch expression.kind {
    case .none: emit(.constant(constant(.none)))
    case .ellipsis: emit(.constant(constant(.ellipsis)))
    case .bool(let value): emit(.constant(constant(.bool(value))))
    case .int(let value): emit(.constant(constant(.int(value))))
    case .double(let value): emit(.constant(constant(.double(value))))
    case .string(let value): emit(.constant(constant(.string(value))))
    case .name(let name): load(name)
    case .tuple(let parts):
      try list(parts)
      emit(.listToTuple)
    case .set(let parts):
      emit(.global(name("set")))
      try list(parts)
      emit(.plainCall(1))
    case .list(let parts): try list(parts)
    case .dictionary(let members):
      emit(.dictionary(0))
      for member in members {
        try value(member.value)
        if let key = member.key {
          try value(key)
          emit(.addPair)
        } else {
          emit(.merge(1))
        }
      }
    case .starred: emit(.refuse("it uses '*' in an unknown place"))
    case .unary(let name, let inner):
      try value(inner)
      emit(
        name == "not" ? .negation : .sign(name == "-" ? .negative : name == "+" ? .positive : .not))
    case .binary(let name, let left, let right):
      try values([left, right])
      emit(operation(name))
    case .comparison(let first, let rest): try comparison(first, rest)
    case .logical(let isAnd, let parts):
      var ends: [Int] = []
      for part in parts.dropLast() {
        try value(part)
        ends.append(emitJump(.truth(!isAnd), keeps: true))
      }
      if let last = parts.last { try value(last) }
      land(ends)
    case .choice(let test, let first, let otherwise):
      try value(test)
      let skip = emitJump(.truth(false))
      try value(first)
      let end = emitJump()
      land([skip])
      try value(otherwise)
      land([end])
    case .call(let callee, let arguments): try call(callee, arguments)
    case .attribute(let object, let name):
      try value(object)
      emit(.attribute(self.name(name)))
    case .element(let object, let index):
      try values([object, index])
      emit(.subscripted)
    case .slice(let start, let end, let step):
      for bound in [start, end, step] {
        if let bound { try value(bound) } else { emit(.constant(constant(.none))) }
      }
      emit(.slice(3))
    case .lambda(let parameters, let body):
      let result = PythonStatement(kind: .result(body), position: body.position)
      try define(
        PythonFunctionDefinition(
          name: "<lambda>", parameters: parameters, body: [result], decorators: [],
          position: expression.position, unsupported: nil))
    case .comprehension(let grouping, let element, let clauses):
      try comprehension(grouping, element, clauses)
    case .formatted(let parts):
      for part in parts {
        if part.format.isEmpty {
          try value(part.value)
        } else {
          emit(.global(name("format")))
          try value(part.value)
          emit(.constant(constant(.string(part.format))))
          emit(.plainCall(2))
        }
      }
      emit(.text(parts.count))
    case .assignment(let name, let inner):
      try value(inner)
      emit(.copy(1))
      store(name)
    case .unsupported(let what): emit(.refuse("it uses \(what)"))
    }
  }

  mutating func list(_ parts: [PythonExpression]) throws {
    emit(.list(0))
    for part in parts {
      if case .starred(let inner) = part.kind {
        try value(inner)
        emit(.extend(1))
      } else {
        try value(part)
        emit(.append(1))
      }
    }
  }

  func operation(_ name: String) -> PythonOperation {
    switch name {
    case "/": return .binary(dividesWhole ? .classicDivide : .divide)
    case "@": return .binary(.matrixProduct)
    case "in", "not in": return .contains(negated: name == "not in")
    case "is", "is not": return .identical(negated: name == "is not")
    default:
      return ElementFunction.operators[name]
        .flatMap { PythonOperation.Operator(rawValue: $0.rawValue) }.map { .binary($0) }
        ?? .refuse("it uses '\(name)'")
    }
  }

  mutating func comparison(
    _ first: PythonExpression, _ rest: [(name: String, value: PythonExpression)]
  ) throws {
    try value(first)
    var ends: [Int] = []
    for (index, (name, right)) in rest.enumerated() {
      try value(right)
      guard index < rest.count - 1 else {
        emit(operation(name))
        break
      }
      let middle = hidden()
      store(middle)
      load(middle)
      emit(operation(name))
      ends.append(emitJump(.truth(false), keeps: true))
      load(middle)
    }
    land(ends)
  }

  mutating func call(_ callee: PythonExpression, _ arguments: [PythonArgument]) throws {
    if case .name("super") = callee.kind, arguments.isEmpty,
      let first = function.code.variables.first
    {
      load(first)
      return emit(.parent)
    }
    try value(callee)
    let positional = arguments.filter { $0.name == nil && $0.form != .members }
    let named = arguments.filter { $0.name != nil || $0.form == .members }
    if arguments.allSatisfy({ $0.form == .plain }) {
      try values((positional + named).map(\.value))
      if !named.isEmpty {
        let names = named.map { PythonMarshal.Value.string($0.name ?? "") }
        emit(.names(constant(.tuple(names))))
      }
      return emit(.plainCall(arguments.count))
    }
    emit(.list(0))
    for argument in positional {
      try value(argument.value)
      emit(argument.form == .elements ? .extend(1) : .append(1))
    }
    emit(.dictionary(0))
    for argument in named {
      try value(argument.value)
      if let name = argument.name {
        emit(.constant(constant(.string(name))))
        emit(.addPair)
      } else {
        emit(.merge(1))
      }
    }
    emit(.expandedCall(hasNames: true, hasNull: false))
  }

  mutating func comprehension(
    _ grouping: PythonExpression.Grouping, _ element: PythonExpression, _ clauses: [PythonClause]
  ) throws {
    if grouping == .set { emit(.global(name("set"))) }
    let result = hidden()
    let outer = renamed
    emit(grouping == .dictionary ? .dictionary(0) : .list(0))
    store(result)
    try clause(0, clauses) { compiler in
      compiler.load(result)
      if grouping == .dictionary, case .tuple(let pair) = element.kind, pair.count == 2 {
        try compiler.values([pair[1], pair[0]])
        compiler.emit(.addPair)
      } else {
        try compiler.value(element)
        compiler.emit(.append(1))
      }
      compiler.emit(.pop)
    }
    renamed = outer
    load(result)
    if grouping == .set { emit(.plainCall(1)) }
  }

  mutating func clause(
    _ index: Int, _ clauses: [PythonClause], _ body: (inout Self) throws -> Void
  ) throws {
    guard index < clauses.count else { return try body(&self) }
    let clause = clauses[index]
    try value(clause.values)
    emit(.iterate)
    for name in PythonNames([
      PythonStatement(kind: .assign([clause.target], clause.target), position: position)
    ]).bound.sorted() {
      let new = hidden(name)
      renamed[name] = new
      if names.inner.contains(name) { emit(.makeCell(variable(new))) }
    }
    let start = next
    emit(.next(0))
    try assign(clause.target)
    for condition in clause.conditions {
      try value(condition)
      emit(.branch(.truth(false), start, keeps: false))
    }
    try self.clause(index + 1, clauses, body)
    emit(.jump(start))
    land([start])
  }
}
