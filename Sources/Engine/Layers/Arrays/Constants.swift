import CoreMLModel
import TensorCore

extension LayerLowering {
  fileprivate mutating func filled(_ value: Float) throws -> [Graph.ValueID] {
    let shape = try outputShape()
    return [try constant([Float](repeating: value, count: shape.count), shape)]
  }
}

extension LoadConstantND: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let output = try layer.outputShape()
    return [try layer.constant(try layer.values(data, shape, "data").array(), output)]
  }
}

extension FillStatic: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.filled(value) }
}

extension FillLike: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.filled(value) }
}

extension RangeStatic: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    return [try layer.constant(try values(), shape)]
  }
}

extension GetShape: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    return [try layer.constant(layer.inputShapes[0].dimensions.map { Float($0) }, shape)]
  }
}
