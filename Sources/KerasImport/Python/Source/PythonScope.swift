import PythonSource
import TensorCore

/// The names of a source file, each found out when it is needed.
final class PythonScope {
  private enum Binding {
    case statement(PythonStatement)
    case value(PythonExpression)
    /// Of the branches of an `if`, one applies.
    case choice(PythonStatement)
    case module(String)
    case imported(String, from: String)
    /// Changed, or bound where a condition decides.
    case unclear
  }

  /// As it was given.
  let path: String
  let dividesWhole: Bool
  private var bindings: [String: Binding] = [:]
  private var stars: [String] = []
  private var values: [String: PythonSymbol] = [:]
  private var pending: Set<String> = []

  init(_ path: String, _ module: PythonModule) {
    self.path = path
    dividesWhole = module.dividesWhole
    for statement in module.statements { bind(statement) }
  }

  /// `PACKAGE.FILE` without its ending.
  private var dotted: String {
    let plain = path.hasSuffix(".py") ? String(path.dropLast(3)) : path
    let parts = plain.split(separator: "/")
    return (parts.last == "__init__" ? parts.dropLast() : parts[...]).joined(separator: ".")
  }

  /// The folder that relative imports start at.
  private var package: [Substring] { path.split(separator: "/").dropLast() }

  private func bind(_ statement: PythonStatement) {
    switch statement.kind {
    case .function(let function):
      set(function.name, .statement(statement), isDefinition: true)
      // Whether the function is called is not known here.
      for name in PythonNames(function.body).global { bindings[name] = .unclear }
    case .type(let type): set(type.name, .statement(statement), isDefinition: true)
    case .assign(let targets, let value):
      for target in targets {
        if case .name(let name) = target.kind { set(name, .value(value)) } else { disturb(target) }
      }
    case .change(let target, _, _): disturb(target)
    case .importModule(let modules):
      for module in modules {
        let top = String(module.path.prefix { $0 != "." })
        set(module.name ?? top, .module(module.name == nil ? top : module.path), isDefinition: true)
      }
    case .importNames(let path, let names):
      for (name, alias) in names {
        if name == "*" {
          stars.append(path)
        } else {
          set(alias ?? name, .imported(name, from: path), isDefinition: true)
        }
      }
    case .attempt(let body, _, _): for statement in body { bind(statement) }
    case .expression(let value):
      // A call of a method may change its object, as a list.
      if case .call(let function, _) = value.kind, case .attribute(let object, _) = function.kind {
        disturb(object)
      }
    case .branch(let branches, _):
      if case .comparison(let first, _)? = branches.first?.test.kind,
        case .name("__name__") = first.kind
      {
        return
      }
      for name in PythonNames([statement]).bound { set(name, .choice(statement)) }
    default: disturb(statement)
    }
  }

  /// Binds what the branch that applies binds.
  private func choose(_ statement: PythonStatement, _ machine: PythonMachine) throws {
    guard case .branch(let branches, let otherwise) = statement.kind else { return }
    let chosen = try branches.first { try machine.truth(value(of: $0.test, machine)) }
    for name in PythonNames([statement]).bound {
      if case .choice? = bindings[name] { bindings[name] = nil }
    }
    for inner in chosen?.body ?? otherwise { bind(inner) }
  }

  private func set(_ name: String, _ binding: Binding, isDefinition: Bool = false) {
    bindings[name] = bindings[name] == nil || isDefinition ? binding : .unclear
  }

  private func disturb(_ statement: PythonStatement) {
    for name in PythonNames([statement]).bound { bindings[name] = .unclear }
  }

  private func disturb(_ target: PythonExpression) {
    var root = target
    while true {
      switch root.kind {
      case .attribute(let inner, _), .element(let inner, _), .starred(let inner): root = inner
      case .tuple(let parts), .list(let parts): return parts.forEach(disturb)
      case .name(let name):
        // Settings of libraries do not matter here.
        if case .module? = bindings[name] { return }
        bindings[name] = .unclear
        return
      default: return
      }
    }
  }

  // MARK: Values

  /// Gives a global the value that a function sets.
  func assign(_ name: String, _ value: PythonSymbol) { values[name] = value }

  /// Nil for a name that the file does not bind.
  func value(_ name: String, _ machine: PythonMachine) throws -> PythonSymbol? {
    if let known = values[name] { return known }
    while case .choice(let statement)? = bindings[name] {
      guard pending.insert(name).inserted else {
        throw PythonMachine.unsupported("'\(name)' depends on itself")
      }
      defer { pending.remove(name) }
      try choose(statement, machine)
    }
    guard let binding = bindings[name] else { return try starred(name, machine) }
    guard pending.insert(name).inserted else {
      throw PythonMachine.unsupported("'\(name)' depends on itself")
    }
    defer { pending.remove(name) }
    let value: PythonSymbol
    switch binding {
    case .value(let expression): value = try self.value(of: expression, machine)
    case .module(let path): value = try module(path, machine)
    case .imported(let name, let path): value = try imported(name, from: path, machine)
    case .choice, .unclear:
      throw PythonMachine.unsupported(
        "'\(name)' of \(path) is set more than once or under a condition")
    case .statement(let statement):
      if case .type(let type) = statement.kind {
        value = .type(try PythonClass(type, self, machine))
      } else if case .function(let function) = statement.kind {
        value = try self.function(function, owner: nil, machine)
      } else {
        return nil
      }
    }
    values[name] = value
    return value
  }

  var classNames: [String] {
    bindings.compactMap { name, binding in
      if case .statement(let statement) = binding, case .type = statement.kind { name } else { nil }
    }
  }

  var functionNames: [String] {
    bindings.compactMap { name, binding in
      if case .statement(let statement) = binding, case .function = statement.kind {
        name
      } else {
        nil
      }
    }
  }

  func defines(_ name: String) -> Bool { bindings[name] != nil }

  func value(
    of expression: PythonExpression, owner: PythonClass? = nil, _ machine: PythonMachine
  ) throws -> PythonSymbol {
    try run(
      PythonStatement(kind: .result(expression), position: expression.position), owner, machine)
  }

  func function(
    _ definition: PythonFunctionDefinition, owner: PythonClass?, _ machine: PythonMachine
  ) throws -> PythonSymbol {
    var definition = definition
    definition.decorators = []
    let name = PythonExpression(name: definition.name, at: definition.position)
    return try run(
      PythonStatement(
        kind: .branch(
          [],
          otherwise: [
            PythonStatement(kind: .function(definition), position: definition.position),
            PythonStatement(kind: .result(name), position: definition.position),
          ]), position: definition.position), owner, machine)
  }

  private func run(
    _ statement: PythonStatement, _ owner: PythonClass?, _ machine: PythonMachine
  ) throws -> PythonSymbol {
    var function = try PythonCompiler.function(
      PythonFunctionDefinition(
        name: "<module>", parameters: [], body: [statement], decorators: [],
        position: statement.position, unsupported: nil), dividesWhole: dividesWhole)
    function.scope = self
    function.owner = owner
    return try machine.call(function, [], [])
  }

  // MARK: Imports

  /// A given file, or a library.
  private func module(_ path: String, _ machine: PythonMachine) throws -> PythonSymbol {
    try file(path, machine).map { .module($0) } ?? .library(PythonLibraries.path(path))
  }

  private func file(_ path: String, _ machine: PythonMachine) throws -> PythonScope? {
    let plain = String(path.drop { $0 == "." })
    guard !plain.isEmpty, !StoredIdentity.isKeras(module: plain) else { return nil }
    let up = path.prefix { $0 == "." }.count
    if up > 0 {
      let whole = (package.dropLast(up - 1) + plain.split(separator: ".")).joined(separator: ".")
      if let near = machine.scopes.first(where: { $0.dotted == whole }) { return near }
    }
    let found = machine.scopes.filter { $0 !== self && ".\($0.dotted)".hasSuffix(".\(plain)") }
    let last = plain.split(separator: ".").last.map(String.init) ?? plain
    let near =
      found.isEmpty
      ? machine.scopes.filter { $0 !== self && ".\($0.dotted)".hasSuffix(".\(last)") } : found
    guard near.count < 2 else {
      throw PythonMachine.unsupported("it imports '\(path)', which may be several of the files")
    }
    return near.first
  }

  private func imported(
    _ name: String, from path: String, _ machine: PythonMachine
  ) throws -> PythonSymbol {
    if let file = try file(path, machine) {
      guard let value = try file.value(name, machine) else {
        throw PythonMachine.unsupported("\(file.path) does not define '\(name)'")
      }
      return value
    }
    if let file = try file(path + "." + name, machine) {
      return .module(file)
    }
    let whole = PythonLibraries.path(PythonLibraries.path(path) + "." + name)
    return PythonLibraries.constant(whole) ?? .library(whole)
  }

  private func starred(_ name: String, _ machine: PythonMachine) throws -> PythonSymbol? {
    for path in stars {
      if let file = try file(path, machine) {
        if let value = try file.value(name, machine) { return value }
      } else if KerasLayerRegistry.kerasNames.contains(name)
        || PythonMachine.functions[name] != nil
        || ["Layer", "Input", "Lambda", "Model", "Sequential"].contains(name)
      {
        let whole = PythonLibraries.path(path) + "." + name
        if whole.contains(["Model", "Sequential"].contains(name) ? ".models." : ".layers.") {
          return .library(whole)
        }
      }
    }
    return nil
  }
}
