import CoreMLModel

/// What this program does with a type of layer of the document.
package struct LayerSupport: Sendable, Equatable {
  /// The name of the type in the specification.
  package let typeName: String
  /// The lowest specification version that has it.
  package let specificationVersion: Int
  /// Whether the engine runs it.
  package let hasEngine: Bool
  /// Whether it has a twin in double precision.
  package let hasReference: Bool

  /// Every type that the document reads, in the specification's order.
  package static var all: [LayerSupport] {
    let engine = Set(engineLayerTypes.map { $0.typeName })
    let reference = Set(referenceLayerTypes.map { $0.typeName })
    return layerTypes.map { type in
      LayerSupport(
        typeName: type.typeName, specificationVersion: type.specificationVersion,
        hasEngine: engine.contains(type.typeName),
        hasReference: reference.contains(type.typeName))
    }
  }
}
