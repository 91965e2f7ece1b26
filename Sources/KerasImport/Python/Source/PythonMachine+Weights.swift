import Formulas
import TensorCore

extension PythonMachine {
  /// A variable that becomes a weight of the object that creates it; nil for other functions.
  func variable(
    _ path: String, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol? {
    guard ["keras.backend.variable", "tf.Variable", "keras.Variable"].contains(path),
      let layers, let tensors
    else { return nil }
    func keyword(_ names: String...) -> PythonSymbol? {
      keywords.first { names.contains($0.name) }?.value
    }
    let value = positional.first ?? keyword("value", "initial_value", "initializer")
    // Keras 3 does not save TensorFlow's variables.
    if path != "keras.Variable", tensors.call.version.isAtLeast(3, 0) {
      return value?.array.map { .array($0) }
    }
    var shape = value?.array?.shape
    if case .method(let made, Self.madeValue)? = value { shape = made.elements?.compactMap(\.int) }
    if path == "keras.Variable" {
      shape =
        (keyword("shape") ?? positional.dropFirst().first)?.elements?.compactMap(\.int) ?? shape
    }
    guard let shape, let current else {
      throw Self.unsupported("it makes a variable of unknown shape")
    }
    let isTrainable = try keyword("trainable").map { try truth($0) } ?? true
    return try layers.weight(
      keyword("name")?.string ?? "", shape, isTrainable: isTrainable, of: current)
  }

  /// The result of calling an initializer, which is only valid as the value of a variable.
  static let madeValue = "value of an initializer"

  func weight(
    of object: PythonObject, _ positional: [PythonSymbol], _ keywords: Keywords
  ) throws -> PythonSymbol {
    guard let layers else { throw Self.malformed }
    func keyword(_ name: String) -> PythonSymbol? { keywords.first { $0.name == name }?.value }
    // Keras 3's first argument is the shape; earlier versions start with the name.
    let isNamed = positional.first?.string != nil || positional.first?.isNone == true
    guard positional.count <= 2 else {
      throw Self.unsupported("add_weight gets \(positional.count) arguments without names")
    }
    let name = keyword("name") ?? (isNamed ? positional.first : nil)
    let shape =
      keyword("shape") ?? (isNamed ? positional.dropFirst().first : positional.first)
    let sizes = shape.map { $0.int.map { [$0] } ?? $0.elements?.map { $0.int ?? -1 } ?? [] } ?? []
    guard sizes.count <= Limits.rank, sizes.allSatisfy({ (1...Limits.dimension).contains($0) })
    else { throw Self.unsupported("it makes a weight of unknown shape") }
    if let type = keyword("dtype"), !type.isNone, type.string?.contains("float") != true {
      throw Self.unsupported("it makes a weight of \(PythonText.text(type))")
    }
    let isTrainable = try keyword("trainable").map { try $0.isNone || truth($0) } ?? true
    return try layers.weight(name?.string ?? "", sizes, isTrainable: isTrainable, of: object)
  }

  /// The argument of `build` for an input.
  func shape(of symbol: PythonSymbol) throws -> PythonSymbol {
    if case .expression = symbol { return try attribute("shape", of: symbol) }
    if case .dictionary(let members) = symbol {
      return .dictionary(
        PythonDictionary(try members.members.map { ($0.key, try shape(of: $0.value)) }))
    }
    guard let elements = symbol.elements else { return .none }
    return .list(PythonList(try elements.map { try shape(of: $0) }))
  }

  /// A placeholder for lists of weights, which only training uses.
  static let weights = "keras.weights"

  func set(_ name: String, of symbol: PythonSymbol, to value: PythonSymbol) throws {
    guard case .object(let object) = symbol else {
      throw Self.unsupported("it sets '.\(name)' of a value")
    }
    if let member = try object.type?.member(name, self), member.kind == .property {
      throw Self.unsupported("it sets the property '\(name)'")
    }
    guard object.names.count < Self.listLimit else { throw Self.unsupported("it sets too much") }
    if try isSetting(name, of: object, value) { return }
    if name == "built" { object.isBuilt = try truth(value) }
    object[name] = try settled(value)
    if name == "trainable", object.isModel, layers?.graph != nil {
      for layer in try elements(built("layers", of: object) ?? .none) {
        try set(name, of: layer, to: value)
      }
    }
  }
}
