import TensorCore

/// scale · x + bias; the shapes are `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`.
package struct Scale: LayerParameters {
  package var shapeScale: [Int] = []
  package var scale: Weights?
  package var hasBias = false
  package var shapeBias: [Int] = []
  package var bias: Weights?

  package init() {}

  package static let fields: Fields = [
    .ints("shapeScale", \.shapeScale),
    .weights("scale", \.scale, \.shapeScale),
    .bool("hasBias", \.hasBias),
    .ints("shapeBias", \.shapeBias),
    .weights("bias", \.bias, isNeeded: \.hasBias, \.shapeBias),
  ]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    try shape.requireBroadcast(shapeScale, "shapeScale")
    if hasBias { try shape.requireBroadcast(shapeBias, "shapeBias") }
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.requireBroadcastable(shapeScale, "shapeScale")
    if hasBias { faults.requireBroadcastable(shapeBias, "shapeBias") }
  }
}

/// x + bias; the shape is `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`.
package struct Bias: LayerParameters {
  package var shape: [Int] = []
  package var bias: Weights?

  package init() {}

  package static let fields: Fields = [.ints("shape", \.shape), .weights("bias", \.bias, \.shape)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    try shape.requireBroadcast(self.shape, "shape")
    return [try shape.checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.requireBroadcastable(shape, "shape")
  }
}

/// A constant `[C, H, W]`.
package struct LoadConstant: LayerParameters {
  package static let inputCount = 0...0

  package var shape: [Int] = []
  package var data: Weights?

  package init() {}

  package static let fields: Fields = [.ints("shape", \.shape), .weights("data", \.data, \.shape)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    try require(shape.count == 3, "\(shape) is invalid; three sizes are needed", field: "shape")
    return [try BlobShape([1, 1] + shape).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.require(shape.count == 3, "shape", "\(shape) is invalid; three sizes are needed")
  }
}

extension BlobShape {
  /// Throws unless a constant of `sizes` can be broadcast to C, H, W.
  fileprivate func requireBroadcast(_ sizes: [Int], _ field: String) throws {
    let own = [channels, height, width]
    let fits =
      switch sizes.count {
      case 1: sizes[0] == 1 || sizes[0] == channels
      case 3: zip(sizes, own).allSatisfy { $0 == 1 || $0 == $1 }
      default: false
      }
    try require(
      fits, "\(sizes) cannot be broadcast to the input's \(own)", field: field,
      hint: "[1], [C], [1, H, W] and [C, H, W] can be")
  }
}
