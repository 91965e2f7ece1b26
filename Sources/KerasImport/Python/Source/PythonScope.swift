import PythonSource
import TensorCore

/// The names in a source file; each is evaluated when it is first needed.
final class PythonScope {
  private enum Binding {
    case statement(PythonStatement)
    case value(PythonExpression)
    case module(String)
    case imported(String, from: String)
    /// The value is modified after it is set.
    case unclear
  }

  /// A branch of an `if`; the last index is its `else`.
  private typealias Branch = (statement: PythonStatement, index: Int)

  /// The path as the user passed it.
  let path: String
  let dividesWhole: Bool
  /// The bindings of each name in source order, with the branches that contain them.
  private var bindings: [String: [(binding: Binding, position: PythonPosition, in: [Branch])]] = [:]
  private var branches: [Branch] = []
  private var choices: [PythonPosition: Int] = [:]
  /// The position of the statement being evaluated; later bindings are not visible yet.
  private var place: PythonPosition?
  /// Global names that functions assign.
  private var changing: Set<String> = []
  private var stars: [String] = []
  private var assigned: [String: PythonSymbol] = [:]
  private var values: [PythonPosition: [String: PythonSymbol]] = [:]
  private var pending: Set<String> = []

  init(_ path: String, _ module: PythonModule) {
    self.path = path
    dividesWhole = module.dividesWhole
    for statement in module.statements { bind(statement) }
  }

  /// `PACKAGE.FILE` without the extension.
  private var dotted: String {
    let plain = path.hasSuffix(".py") ? String(path.dropLast(3)) : path
    let parts = plain.split(separator: "/")
    return (parts.last == "__init__" ? parts.dropLast() : parts[...]).joined(separator: ".")
  }

  /// The folder that relative imports start from.
  private var package: [Substring] { path.split(separator: "/").dropLast() }

  private func bind(_ statement: PythonStatement) {
    func set(_ name: String, _ binding: Binding, _ position: PythonPosition? = nil) {
      bindings[name, default: []].append((binding, position ?? statement.position, branches))
    }
    func disturb(_ target: PythonExpression) {
      switch target.kind {
      case .attribute(let inner, _), .element(let inner, _), .starred(let inner): disturb(inner)
      case .tuple(let parts), .list(let parts): parts.forEach(disturb)
      case .name(let name):
        // Settings of libraries make no difference here.
        if case .module? = bindings[name]?.last?.binding { return }
        set(name, .unclear)
      default: break
      }
    }
    func assign(_ target: PythonExpression, _ value: PythonExpression) {
      switch (target.kind, value.kind) {
      case (.name(let name), _): set(name, .value(value), value.position)
      case (.tuple(let names), .tuple(let values)) where names.count == values.count:
        zip(names, values).forEach(assign)
      default: disturb(target)
      }
    }
    switch statement.kind {
    case .function(let function):
      set(function.name, .statement(statement))
      // It is unknown here whether the function is called.
      changing.formUnion(PythonNames(function.body).global)
    case .type(let type): set(type.name, .statement(statement))
    case .assign(let targets, let value): for target in targets { assign(target, value) }
    case .change(let target, _, _): disturb(target)
    case .importModule(let modules):
      for module in modules {
        let top = String(module.path.prefix { $0 != "." })
        set(module.name ?? top, .module(module.name == nil ? top : module.path))
      }
    case .importNames(let path, let names):
      for (name, alias) in names {
        if name == "*" {
          stars.append(path)
        } else {
          set(alias ?? name, .imported(name, from: path))
        }
      }
    case .attempt(let body, _, _): for statement in body { bind(statement) }
    case .expression(let value):
      // A method call may modify its object, such as a list.
      if case .call(let function, _) = value.kind, case .attribute(let object, _) = function.kind {
        disturb(object)
      }
    case .branch(let tests, let otherwise):
      if case .comparison(let first, _)? = tests.first?.test.kind,
        case .name("__name__") = first.kind
      {
        return
      }
      for (index, body) in (tests.map(\.body) + [otherwise]).enumerated() {
        branches.append((statement, index))
        for inner in body { bind(inner) }
        branches.removeLast()
      }
    default: for name in PythonNames([statement]).bound { set(name, .unclear) }
    }
  }

  /// Whether a branch is taken.
  private func applies(_ branch: Branch, _ machine: PythonMachine) throws -> Bool {
    guard case .branch(let tests, _) = branch.statement.kind else { return false }
    let position = branch.statement.position
    if choices[position] == nil {
      choices[position] =
        try tests.firstIndex { try machine.truth(value(of: $0.test, machine)) } ?? tests.count
    }
    return choices[position] == branch.index
  }

  // MARK: Values

  /// Sets a global variable from within a function.
  func assign(_ name: String, _ value: PythonSymbol) { assigned[name] = value }

  /// The value of a name; nil if the file does not bind it.
  func value(_ name: String, _ machine: PythonMachine) throws -> PythonSymbol? {
    if let known = assigned[name] { return known }
    let found = try bindings[name]?.last { binding in
      try place.map { binding.position < $0 } ?? true
        && binding.in.allSatisfy { try applies($0, machine) }
    }
    guard let (binding, position, _) = found else { return try starred(name, machine) }
    if let known = values[position]?[name] { return known }
    guard pending.insert("\(name) \(position)").inserted else {
      throw PythonMachine.unsupported("'\(name)' depends on itself")
    }
    defer { pending.remove("\(name) \(position)") }
    let value: PythonSymbol
    switch binding {
    case _ where changing.contains(name), .unclear:
      throw PythonMachine.unsupported("'\(name)' of \(path) is changed after it is set")
    case .value(let expression): value = try self.value(of: expression, machine)
    case .module(let path): value = try module(path, machine)
    case .imported(let name, let path): value = try imported(name, from: path, machine)
    case .statement(let statement):
      if case .type(let type) = statement.kind {
        value = .type(try PythonClass(type, self, machine))
      } else if case .function(let function) = statement.kind {
        value = try self.function(function, owner: nil, machine)
      } else {
        return nil
      }
    }
    values[position, default: [:]][name] = value
    return value
  }

  var classNames: [String] { names { if case .type = $0 { true } else { false } } }

  var functionNames: [String] { names { if case .function = $0 { true } else { false } } }

  private func names(_ isWanted: (PythonStatement.Kind) -> Bool) -> [String] {
    bindings.compactMap { name, found in
      if case .statement(let statement)? = found.last?.binding, isWanted(statement.kind) {
        name
      } else {
        nil
      }
    }
  }

  func defines(_ name: String) -> Bool { bindings[name] != nil }

  /// - Parameter isOwn: whether the expression is in this file; it then sees only earlier bindings.
  func value(
    of expression: PythonExpression, owner: PythonClass? = nil, _ machine: PythonMachine,
    isOwn: Bool = true
  ) throws -> PythonSymbol {
    try run(
      PythonStatement(kind: .result(expression), position: expression.position), owner, machine,
      isOwn: isOwn)
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
    _ statement: PythonStatement, _ owner: PythonClass?, _ machine: PythonMachine,
    isOwn: Bool = true
  ) throws -> PythonSymbol {
    var function = try PythonCompiler.function(
      PythonFunctionDefinition(
        name: "<module>", parameters: [], body: [statement], decorators: [],
        position: statement.position, unsupported: nil), dividesWhole: dividesWhole)
    function.scope = self
    function.owner = owner
    let outer = place
    place = isOwn ? statement.position : nil
    defer { place = outer }
    return try machine.call(function, [], [])
  }

  // MARK: Imports

  /// One of the source files, or a library.
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
    let package = try file(path, machine)
    if let value = try package?.value(name, machine) { return value }
    if let file = try file(path + "." + name, machine) { return .module(file) }
    if let package { throw PythonMachine.unsupported("\(package.path) does not define '\(name)'") }
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
