import TensorCore

/// A layer from a later specification version, carried through untouched.
package struct OpaqueLayer: ParameterlessLayer {
  package static let typeName = "opaque"
  package static let inputCount = 0...Int.max
  package static let outputCount = 0...Int.max

  package var message: OpaqueMessage?

  package init() {}

  package init(_ message: OpaqueMessage) { self.message = message }

  package static let specificationVersion = 4

  /// Always throws: the layer is not read.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    throw ModelError(
      .unsupported, "layer type '\(message?.name ?? "unknown")' is not supported",
      hint: "it belongs to specification 4 or later")
  }
}
