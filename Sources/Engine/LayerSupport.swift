import CoreMLModel

/// What this program does with a type of layer of the document.
public struct LayerSupport: Sendable, Equatable {
  /// The name of the type in the specification.
  public let typeName: String
  /// The lowest specification version that has it.
  public let specificationVersion: Int
  /// Whether the engine runs it.
  public let hasEngine: Bool
  /// Whether it has a twin in double precision.
  public let hasReference: Bool

  /// Every type that the document reads, in the specification's order.
  public static var all: [LayerSupport] {
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
