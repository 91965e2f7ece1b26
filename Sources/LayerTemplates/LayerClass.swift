import CoreMLModel

/// A class of custom layers, and a model's layers of this class.
package struct LayerClass: Sendable {
  package struct Layer: Sendable {
    package var name: String
    package var custom: Custom
    /// The input shapes; nil if unknown.
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
  /// The layers of the class; never empty.
  package let layers: [Layer]
  /// The name of the Swift class.
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

  /// The model's description of the class.
  var description: String {
    layers.lazy.map(\.custom.classDescription).first { !$0.isEmpty } ?? "A custom layer."
  }
}

// MARK: - Parameters

extension LayerClass {
  /// A layer parameter as a property of the class.
  struct Parameter {
    enum Kind: Equatable { case float, integer, bool, string }

    let key: String
    let property: String
    let kind: Kind
    /// Whether any layer lacks it.
    let isOptional: Bool
    /// The value in each layer that has the parameter.
    let values: [(value: String, layer: String)]
  }

  /// The parameters in ascending order of their keys, without those that are a number in one layer
  /// and a string in another.
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
