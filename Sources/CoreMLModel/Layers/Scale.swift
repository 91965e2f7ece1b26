import TensorCore

/// scale · x + bias; the shapes are `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`.
package struct Scale: LayerParameters {
  package static let typeName = "scale"

  package var shapeScale: [Int] = []
  package var scale: Weights?
  package var hasBias = false
  package var shapeBias: [Int] = []
  package var bias: Weights?
  package var unknownFields = UnknownFields()

  package init() {}
}

/// x + bias; the shape is `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]`.
package struct Bias: LayerParameters {
  package static let typeName = "bias"

  package var shape: [Int] = []
  package var bias: Weights?
  package var unknownFields = UnknownFields()

  package init() {}
}

/// A constant `[C, H, W]`.
package struct LoadConstant: LayerParameters {
  package static let typeName = "loadConstant"
  package static let inputCount = 0...0

  package var shape: [Int] = []
  package var data: Weights?
  package var unknownFields = UnknownFields()

  package init() {}
}

extension Scale: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shapeScale", \.shapeScale),
    .message("scale", \.scale),
    .bool("hasBias", \.hasBias),
    .ints("shapeBias", \.shapeBias),
    .message("bias", \.bias),
  ]
}

extension Bias: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shape", \.shape),
    .message("bias", \.bias),
  ]
}

extension LoadConstant: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("shape", \.shape),
    .message("data", \.data),
  ]
}

extension Scale {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    try shape.requireStretched(shapeScale, "shapeScale")
    if hasBias { try shape.requireStretched(shapeBias, "shapeBias") }
    return [try shape.checked]
  }

  package var weights: [NamedWeights] {
    named(("scale", scale), ("bias", bias)) { $0 == "bias" ? shapeBias : shapeScale }
  }
}

extension Bias {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    try shape.requireStretched(self.shape, "shape")
    return [try shape.checked]
  }

  package var weights: [NamedWeights] { named(("bias", bias)) { _ in shape } }
}

extension LoadConstant {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs, atLeast: 0)
    guard shape.count == 3 else {
      throw ModelError(.malformed, "\(shape), three sizes are needed", field: "shape")
    }
    return [try BlobShape([1, 1] + shape).checked]
  }

  package var weights: [NamedWeights] { named(("data", data)) { _ in shape } }
}

extension BlobShape {
  /// Throws where a constant of `sizes` does not stretch to C, H, W.
  fileprivate func requireStretched(_ sizes: [Int], _ field: String) throws {
    let own = [channels, height, width]
    let fits =
      switch sizes.count {
      case 1: sizes[0] == 1 || sizes[0] == channels
      case 3: zip(sizes, own).allSatisfy { $0 == 1 || $0 == $1 }
      default: false
      }
    guard fits else {
      throw ModelError(
        .malformed, "\(sizes) does not stretch to the input's \(own)", field: field,
        hint: "[1], [C], [1, H, W] and [C, H, W] do")
    }
  }
}

extension Scale: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireWeights(("scale", scale), ("bias", bias, hasBias))
    faults.requireStretchable(shapeScale, "shapeScale")
    if hasBias { faults.requireStretchable(shapeBias, "shapeBias") }
  }
}

extension Bias: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireWeights(("bias", bias))
    faults.requireStretchable(shape, "shape")
  }
}

extension LoadConstant: CheckedParameters {
  func check(_ faults: inout Faults) {
    faults.requireWeights(("data", data))
    faults.require(shape.count == 3, "shape", "\(shape), three sizes are needed")
  }
}
