import CoreMLModel

extension LayerLowering {
  fileprivate mutating func reshape() throws -> [Graph.ValueID] {
    [try view(inputs[0], try outputShape())]
  }
}

extension ReshapeStatic: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.reshape() }
}

extension RankPreservingReshape: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.reshape() }
}

extension ReshapeLike: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.reshape() }
}

extension FlattenTo2D: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.reshape() }
}

extension ExpandDims: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.reshape() }
}

extension Squeeze: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] { try layer.reshape() }
}

extension Transpose: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    _ = try layer.outputShape()
    return [try layer.transposed(layer.inputs[0], axes)]
  }
}
