import TensorCore

/// A layer of a later specification version, carried through untouched.
public struct OpaqueLayer: LayerParameters {
  public static let typeName = "opaque"
  public static let inputCount = 0...Int.max
  public static let outputCount = 0...Int.max

  public var message: OpaqueMessage?
  public var unknownFields = UnknownFields()

  public init() {}

  public init(_ message: OpaqueMessage) { self.message = message }
}

extension OpaqueLayer {
  public var requiredSpecificationVersion: Int {
    SpecificationVersion.layersOfVersion5.contains(specificationTypeName) ? 5 : 4
  }

  /// Always throws: the layer is not read.
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    throw ModelError(
      .unsupported, "layers of type '\(message?.name ?? "unknown")' are not supported",
      hint: "they belong to specification 4 or later")
  }
}
