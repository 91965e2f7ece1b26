import Formulas
import PythonSource
import TensorCore

/// Compiles a function's source to instructions of the machine.
struct PythonCompiler {
  let names: PythonNames
  /// The variables of enclosing functions.
  let outer: Set<String>
  let dividesWhole: Bool
  var own: Set<String>
  /// The names given to the variables of comprehensions.
  var renamed: [String: String]
  var function: PythonFunction
  var position: PythonPosition
  var loops: [(start: Int, isIteration: Bool, breaks: [Int])] = []
  /// Variables whose values are new objects, made by calls and operators.
  private var fresh: Set<String> = []

  /// - Parameter outer: the variables of enclosing functions.
  static func function(
    _ definition: PythonFunctionDefinition, outer: Set<String> = [],
    renamed: [String: String] = [:], dividesWhole: Bool
  ) throws -> PythonFunction {
    var compiler = PythonCompiler(definition, outer, renamed, dividesWhole)
    if let reason = definition.unsupported {
      compiler.emit(.refuse("it is a function with '\(reason)'"))
    }
    try compiler.block(definition.body)
    compiler.emit(.constantResult(compiler.constant(.none)))
    return compiler.function
  }

  init(
    _ definition: PythonFunctionDefinition, _ outer: Set<String>, _ renamed: [String: String],
    _ dividesWhole: Bool
  ) {
    names = PythonNames(definition.body)
    self.outer = outer
    self.dividesWhole = dividesWhole
    position = definition.position
    let parameters = definition.parameters
    let order = [PythonParameter.Form.plain, .keywordOnly, .elements, .members]
    let variables = order.flatMap { form in parameters.filter { $0.form == form }.map(\.name) }
    own = names.bound.union(variables)
    self.renamed = renamed.filter { [own] in !own.contains($0.key) }
    var code = PythonCode(
      layout: .python311, name: definition.name,
      variables: variables + own.subtracting(variables).sorted())
    code.argumentCount = parameters.count { $0.form == .plain }
    code.keywordOnlyCount = parameters.count { $0.form == .keywordOnly }
    code.flags =
      (parameters.contains { $0.form == .elements } ? 4 : 0)
      + (parameters.contains { $0.form == .members } ? 8 : 0)
    function = PythonFunction(code: code, operations: [], version: nil)
    for (index, name) in code.variables.enumerated() where names.inner.contains(name) {
      emit(.makeCell(index))
    }
  }

  // MARK: Instructions

  mutating func emit(_ operation: PythonOperation) {
    function.operations.append(operation)
    function.positions.append(position)
  }

  var next: Int { function.operations.count }

  /// A jump whose target comes later.
  mutating func emitJump(_ test: PythonOperation.Test? = nil, keeps: Bool = false) -> Int {
    emit(test.map { PythonOperation.branch($0, 0, keeps: keeps) } ?? .jump(0))
    return next - 1
  }

  mutating func land(_ jumps: [Int]) {
    for jump in jumps {
      switch function.operations[jump] {
      case .branch(let test, _, let keeps):
        function.operations[jump] = .branch(test, next, keeps: keeps)
      case .next: function.operations[jump] = .next(next)
      default: function.operations[jump] = .jump(next)
      }
    }
  }

  mutating func constant(_ value: PythonMarshal.Value) -> Int {
    function.code.constants.append(value)
    return function.code.constants.count - 1
  }

  mutating func name(_ name: String) -> Int {
    if let index = function.code.names.firstIndex(of: name) { return index }
    function.code.names.append(name)
    return function.code.names.count - 1
  }

  mutating func variable(_ name: String) -> Int {
    if let index = function.code.variables.firstIndex(of: name) { return index }
    function.code.variables.append(name)
    return function.code.variables.count - 1
  }

  /// A variable with a name that no source contains.
  mutating func hidden(_ name: String = "") -> String {
    let name = "\(name)·\(function.code.variables.count)"
    own.insert(name)
    _ = variable(name)
    return name
  }

  enum Place {
    case local(Int)
    case enclosed(Int)
    case global(Int)
  }

  mutating func place(_ name: String) -> Place {
    let found = renamed[name] ?? name
    if own.contains(found), !names.global.contains(found) {
      let plain = String(found.prefix { $0 != "·" })
      let isShared = names.inner.contains(found) || found != name && names.inner.contains(plain)
      return isShared ? .enclosed(variable(found)) : .local(variable(found))
    }
    guard outer.contains(found), !names.global.contains(found) else {
      return .global(self.name(found))
    }
    if !function.code.free.contains(found) { function.code.free.append(found) }
    return .enclosed(variable(found))
  }

  mutating func load(_ name: String) {
    switch place(name) {
    case .local(let index): emit(.local(index))
    case .enclosed(let index): emit(.enclosed(index))
    case .global(let index): emit(.global(index))
    }
  }

  mutating func store(_ name: String) {
    switch place(name) {
    case .local(let index): emit(.setLocal(index))
    case .enclosed(let index): emit(.setEnclosed(index))
    case .global(let index): emit(.setGlobal(index))
    }
  }

  // MARK: Statements

  mutating func block(_ statements: [PythonStatement]) throws {
    for statement in statements {
      position = statement.position
      try self.statement(statement)
    }
  }

  mutating func statement(_ statement: PythonStatement) throws {
    switch statement.kind {
    case .expression(let value):
      if case .string = value.kind { return }
      if case .call(let function, _) = value.kind, Self.isRemark(function) { return }
      try self.value(value)
      emit(.pop)
    case .assign(let targets, let value):
      try self.value(value)
      for case .name(let name) in targets.map(\.kind) {
        switch value.kind {
        case .call where targets.count == 1, .binary where targets.count == 1: fresh.insert(name)
        default: fresh.remove(name)
        }
      }
      for target in targets.dropLast() {
        emit(.copy(1))
        try assign(target)
      }
      if let last = targets.last { try assign(last) }
    case .change(let target, let name, let value):
      try self.value(target)
      try self.value(value)
      emit(operation(name))
      try assign(target)
    case .result(let value):
      if let value { try self.value(value) } else { emit(.constant(constant(.none))) }
      emit(.result)
    case .nothing, .global, .nonlocal: break
    case .stop:
      guard let loop = loops.last else { return emit(.refuse("it stops no loop")) }
      if loop.isIteration { emit(.pop) }
      loops[loops.count - 1].breaks.append(emitJump())
    case .next:
      emit(loops.last.map { PythonOperation.jump($0.start) } ?? .refuse("it continues no loop"))
    case .raise(let error):
      // The message of the error, if there is one.
      if case .call(_, let arguments)? = error?.kind, arguments.count == 1 {
        switch arguments[0].value.kind {
        case .string, .formatted: try value(arguments[0].value)
        default: break
        }
      }
      emit(.raise)
    case .unsupported(let what): emit(.refuse("it uses \(what)"))
    case .branch(let branches, let otherwise):
      var ends: [Int] = []
      for (test, body) in branches {
        try value(test)
        let skip = emitJump(.truth(false))
        try block(body)
        ends.append(emitJump())
        land([skip])
      }
      try block(otherwise)
      land(ends)
    case .whileLoop(let test, let body, let otherwise):
      let start = next
      try value(test)
      let end = emitJump(.truth(false))
      try loop(start, isIteration: false, [end], otherwise) { try $0.block(body) }
    case .forLoop(let target, let values, let body, let otherwise):
      try value(values)
      emit(.iterate)
      let start = next
      emit(.next(0))
      try loop(start, isIteration: true, [start], otherwise) {
        try $0.assign(target)
        try $0.block(body)
      }
    case .with(let items, let body):
      for item in items {
        guard case .call(let function, _) = item.value.kind, item.target == nil,
          case .attribute(_, let name) = function.kind,
          ["name_scope", "device", "variable_scope"].contains(name)
        else {
          emit(.refuse("it uses 'with'"))
          continue
        }
      }
      try block(body)
    case .attempt(let body, _, let finally):
      try block(body)
      try block(finally)
    case .function(let definition):
      try define(definition)
      if definition.decorators.contains(where: { !Self.isHarmless($0) }) {
        emit(.refuse("it defines a function with a decorator"))
      }
      store(definition.name)
    case .type: emit(.refuse("it defines a class in a function"))
    case .importModule(let modules):
      for module in modules {
        emit(.constant(constant(.none)))
        emit(.constant(constant(module.name == nil ? .none : .bool(true))))
        emit(.importModule(name(module.path)))
        store(module.name ?? String(module.path.prefix { $0 != "." }))
      }
    case .importNames(let path, let imported):
      for (imported, alias) in imported {
        emit(.constant(constant(.none)))
        emit(.constant(constant(.bool(true))))
        emit(.importModule(name(path)))
        emit(.importName(name(imported)))
        store(alias ?? imported)
        emit(.pop)
      }
    }
  }

  /// Decorators that do not change what a function returns.
  static func isHarmless(_ decorator: PythonExpression) -> Bool {
    var decorator = decorator
    if case .call(let function, _) = decorator.kind { decorator = function }
    switch decorator.kind {
    case .attribute(_, let name), .name(let name):
      return name.contains("register") || name.contains("export")
        || [
          "function", "do_not_convert", "override", "typechecked", "wraps",
          "shape_type_conversion", "default",
        ].contains(name)
    default: return false
    }
  }

  /// Calls without effect on a layer's result: losses, messages and checks.
  static func isRemark(_ function: PythonExpression) -> Bool {
    let name: String
    switch function.kind {
    case .attribute(_, let attribute): name = attribute
    case .name(let plain): name = plain
    default: return false
    }
    return name.hasPrefix("assert_")
      || [
        "add_loss", "add_metric", "add_update", "print", "warn", "warning", "info", "debug",
        "summary",
      ].contains(name)
  }

  mutating func loop(
    _ start: Int, isIteration: Bool, _ ends: [Int], _ otherwise: [PythonStatement],
    _ body: (inout Self) throws -> Void
  ) throws {
    loops.append((start, isIteration, []))
    try body(&self)
    emit(.jump(start))
    land(ends)
    let breaks = loops.popLast()?.breaks ?? []
    try block(otherwise)
    land(breaks)
  }

  mutating func assign(_ target: PythonExpression) throws {
    switch target.kind {
    case .name(let name): store(name)
    case .attribute(let object, let name):
      try value(object)
      emit(.setAttribute(self.name(name)))
    case .element(let object, let index):
      try value(object)
      try value(index)
      // Arrays have value semantics here, so no other variable may refer to the array.
      if case .name(let name) = object.kind, case .local = place(name), fresh.contains(name) {
        emit(.replaceElement)
        store(name)
      } else {
        emit(.setSubscripted)
      }
    case .tuple(let parts), .list(let parts):
      guard
        let star = parts.firstIndex(where: { if case .starred = $0.kind { true } else { false } })
      else {
        emit(.unpack(parts.count))
        for part in parts { try assign(part) }
        return
      }
      let whole = hidden()
      store(whole)
      for (index, part) in parts.enumerated() {
        load(whole)
        if index == star, case .starred(let inner) = part.kind {
          let end = parts.count - 1 - star
          emit(.constant(constant(.int(star))))
          emit(.constant(constant(end == 0 ? .none : .int(-end))))
          emit(.sliced)
          try assign(inner)
        } else {
          emit(.constant(constant(.int(index < star ? index : index - parts.count))))
          emit(.subscripted)
          try assign(part)
        }
      }
    default: emit(.refuse("it assigns to something that is not a variable"))
    }
  }

  mutating func define(_ definition: PythonFunctionDefinition) throws {
    let parameters = definition.parameters
    let defaults = parameters.filter { $0.form == .plain }.compactMap(\.standard)
    for standard in defaults { try value(standard) }
    emit(.tuple(defaults.count))
    emit(.dictionary(0))
    for parameter in parameters where parameter.form == .keywordOnly {
      guard let standard = parameter.standard else { continue }
      try value(standard)
      emit(.constant(constant(.string(parameter.name))))
      emit(.addPair)
    }
    let inner = try Self.function(
      definition, outer: outer.union(own), renamed: renamed, dividesWhole: dividesWhole)
    for name in inner.code.free { _ = place(name) }
    function.inner.append(inner)
    emit(.define(function.inner.count - 1))
  }
}
