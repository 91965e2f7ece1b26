import CoreMLModel

/// A class of custom layers, and the layers of a model that are of it.
package struct LayerClass: Sendable {
  package struct Layer: Sendable {
    package var name: String
    package var custom: Custom
    /// Nil if they are unknown.
    package var inputShapes: [[Int]?]
    package var outputShapes: [[Int]?]

    package init(name: String, custom: Custom, inputShapes: [[Int]?], outputShapes: [[Int]?]) {
      self.name = name
      self.custom = custom
      self.inputShapes = inputShapes
      self.outputShapes = outputShapes
    }
  }

  package let name: String
  /// At least one.
  package let layers: [Layer]
  /// The Swift class.
  let typeName: String

  /// The classes of `layers`, in the order of their first layers.
  package static func classes(of layers: [Layer]) -> [LayerClass] {
    var order: [String] = []
    var members: [String: [Layer]] = [:]
    for layer in layers {
      if members[layer.custom.className] == nil { order.append(layer.custom.className) }
      members[layer.custom.className, default: []].append(layer)
    }
    var names = SwiftNames(taken: SwiftNames.types)
    return order.map {
      LayerClass(name: $0, layers: members[$0] ?? [], typeName: names.unique($0, else: "Layer"))
    }
  }

  /// A text of the model about the class.
  var description: String {
    layers.lazy.map(\.custom.classDescription).first { !$0.isEmpty } ?? "A custom layer."
  }
}

// MARK: - Parameters

extension LayerClass {
  /// A parameter as a property of the class.
  struct Parameter {
    enum Kind: Equatable { case float, integer, bool, string }

    let key: String
    let property: String
    let kind: Kind
    /// Whether some layers lack it.
    let isOptional: Bool
    /// The values, with the layers that have them.
    let values: [(value: String, layer: String)]
  }

  /// In ascending order of their names. A parameter that is a number in one layer and a text in
  /// another is left out.
  var parameters: [Parameter] {
    var names = SwiftNames(taken: SwiftNames.types.union(SwiftNames.members))
    return Set(layers.flatMap(\.custom.parameters.keys)).sorted().compactMap { key in
      let found = layers.compactMap { layer in
        (layer.custom.parameters[key] ?? nil).map { (value: $0, layer: layer.name) }
      }
      guard let kind = Self.kind(found.map(\.value)) else { return nil }
      return Parameter(
        key: key, property: names.unique(key, else: "parameter"), kind: kind,
        isOptional: found.count < layers.count,
        values: found.map { (Self.text($0.value), $0.layer) })
    }
  }

  private static func kind(_ values: [Custom.Value]) -> Parameter.Kind? {
    let kinds: [Parameter.Kind] = values.map {
      switch $0 {
      case .double: .float
      case .int, .long: .integer
      case .bool: .bool
      case .string: .string
      }
    }
    guard let first = kinds.first else { return nil }
    if kinds.allSatisfy({ $0 == first }) { return first }
    return kinds.contains(.string) ? nil : .float
  }

  private static func text(_ value: Custom.Value) -> String {
    if case .string(let text) = value { SwiftNames.literal(text) } else { "\(value)" }
  }
}
