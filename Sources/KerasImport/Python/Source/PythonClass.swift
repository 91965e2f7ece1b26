import ByteFormats
import PythonSource
import TensorCore

/// A class defined in a source file.
final class PythonClass {
  let definition: PythonClassDefinition
  let scope: PythonScope
  /// The class and its ancestors in method resolution order.
  private(set) var lineage: [PythonClass] = []
  /// The library classes that these classes inherit from.
  private(set) var roots: [String] = []
  private var members: [String: Member] = [:]

  struct Member {
    enum Kind { case plain, property, ofClass, ofNothing }

    var kind: Kind
    var value: PythonSymbol
  }

  init(_ definition: PythonClassDefinition, _ scope: PythonScope, _ machine: PythonMachine) throws {
    self.definition = definition
    self.scope = scope
    guard definition.decorators.allSatisfy(PythonCompiler.isHarmless) else {
      throw PythonMachine.unsupported("the class \(definition.name) has an unknown decorator")
    }
    var lists: [[PythonClass]] = []
    var bases: [PythonClass] = []
    for base in definition.bases where base.name != "metaclass" {
      guard base.form == .plain, base.name == nil else {
        throw PythonMachine.unsupported("the class \(definition.name) has unknown bases")
      }
      var value = try scope.value(of: base.value, machine)
      if case .library(let path) = value, let written = try machine.written(path) {
        value = written
      }
      switch value {
      case .type(let type):
        bases.append(type)
        lists.append(type.lineage)
        roots += type.roots.filter { !roots.contains($0) }
      case .library(let path): if !roots.contains(path) { roots.append(path) }
      default: throw PythonMachine.unsupported("the class \(definition.name) has unknown bases")
      }
    }
    lineage = try [self] + Self.merged(lists + [bases])
    roots.removeAll { $0 == "python.object" }
    guard lineage.count <= 32, roots.count <= 1 else {
      throw PythonMachine.unsupported(
        "the class \(definition.name) inherits from several libraries")
    }
  }

  /// Python's method resolution order: a class comes before its ancestors, and bases stay in order.
  private static func merged(_ lists: [[PythonClass]]) throws -> [PythonClass] {
    var lists = lists.filter { !$0.isEmpty }
    var result: [PythonClass] = []
    while !lists.isEmpty {
      let next = lists.lazy.map { $0[0] }.first { head in
        !lists.contains { $0.dropFirst().contains { $0 === head } }
      }
      guard let next else { throw PythonMachine.unsupported("its classes have no order") }
      result.append(next)
      lists = lists.map { $0.filter { $0 !== next } }.filter { !$0.isEmpty }
    }
    return result
  }

  /// The Keras layer class that it inherits from; `Layer` for a custom layer.
  func layerClass() throws -> String? {
    guard let root = roots.first else { return nil }
    guard let name = KerasClass.name(root) else {
      throw PythonMachine.unsupported("the class \(definition.name) inherits from \(root)")
    }
    return name
  }

  /// The member that the class itself defines.
  private func own(_ name: String, _ machine: PythonMachine) throws -> Member? {
    if let known = members[name] { return known }
    var found: Member?
    for statement in definition.body {
      switch statement.kind {
      case .function(let function) where function.name == name:
        guard let kind = kind(function) else {
          throw PythonMachine.unsupported("\(definition.name).\(name) has an unknown decorator")
        }
        found = Member(kind: kind, value: try scope.function(function, owner: self, machine))
      case .assign(let targets, let value):
        for target in targets {
          if case .name(name) = target.kind {
            found = Member(kind: .plain, value: try scope.value(of: value, owner: self, machine))
          }
        }
      case .function, .expression, .nothing: break
      default:
        if PythonNames([statement]).bound.contains(name) {
          throw PythonMachine.unsupported("\(definition.name).\(name) depends on a condition")
        }
      }
    }
    members[name] = found
    return found
  }

  private func kind(_ function: PythonFunctionDefinition) -> Member.Kind? {
    var kind = Member.Kind.plain
    for decorator in function.decorators {
      switch decorator.kind {
      case .name("property"), .name("cached_property"): kind = .property
      case .name("staticmethod"): kind = .ofNothing
      case .name("classmethod"): kind = .ofClass
      case _ where PythonCompiler.isHarmless(decorator): break
      default: return nil
      }
    }
    return kind
  }

  /// Whether `call` has the decorator `tf.function`.
  var tracesCall: Bool {
    for statement in lineage.lazy.flatMap(\.definition.body) {
      guard case .function(let function) = statement.kind, function.name == "call" else { continue }
      return function.decorators.contains { decorator in
        var decorator = decorator
        if case .call(let made, _) = decorator.kind { decorator = made }
        if case .attribute(_, "function") = decorator.kind { return true }
        if case .name("function") = decorator.kind { return true }
        return false
      }
    }
    return false
  }

  /// - Parameter after: the class in the lineage after which the search starts.
  func member(
    _ name: String, after: PythonClass? = nil, _ machine: PythonMachine
  ) throws -> Member? {
    let start = after.flatMap { after in lineage.firstIndex { $0 === after } }.map { $0 + 1 } ?? 0
    for type in lineage[start...] { if let found = try type.own(name, machine) { return found } }
    return nil
  }
}

/// An instance of a class in a source file, or a Keras layer that a source file creates.
final class PythonObject {
  let type: PythonClass?
  /// The number of the object, in order of creation.
  let number: Int
  private(set) var names: [String] = []
  private(set) var attributes: [String: PythonSymbol] = [:]
  /// The class, if it is a Keras layer.
  var layerClass: String?
  var fields = JSONObject()
  var weights: [PythonWeight] = []
  var isBuilt = false
  /// The arguments that its class was called with.
  var made: (positional: [PythonSymbol], keywords: PythonMachine.Keywords) = ([], [])
  /// A model's inputs and outputs, and the input shape of a Sequential model that lacks them.
  var model: (inputs: [String], outputs: [String])?
  var inputShape: [Int?]?

  init(_ type: PythonClass?, number: Int) {
    self.type = type
    self.number = number
  }

  subscript(name: String) -> PythonSymbol? {
    get { attributes[name] }
    set {
      // Keras tracks a layer when the attribute is set to it, not when it is set to None before.
      if attributes[name]?.isNone ?? true {
        names.removeAll { $0 == name }
        names.append(name)
      }
      attributes[name] = newValue
    }
  }

  var className: String {
    type?.definition.name.replacing(PythonMachine.writtenLayers, with: "") ?? layerClass ?? "object"
  }

  var isFrozen: Bool {
    if case .bool(false)? = attributes["trainable"] { return true }
    return fields["trainable"]?.bool == false
  }
}

/// A weight that a layer's source creates.
struct PythonWeight {
  let number: Int
  let name: String
  let shape: [Int]
  let isTrainable: Bool
}
