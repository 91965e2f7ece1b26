import CoreMLModel

/// A layer that only changes the shape of its first input.
protocol ReshapingLayer: EngineLayer {}

extension ReshapingLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    [try layer.view(layer.inputs[0], try layer.outputShape())]
  }
}

extension ReshapeStatic: ReshapingLayer {}
extension RankPreservingReshape: ReshapingLayer {}
extension ReshapeLike: ReshapingLayer {}
extension FlattenTo2D: ReshapingLayer {}
extension ExpandDims: ReshapingLayer {}
extension Squeeze: ReshapingLayer {}

extension Transpose: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    _ = try layer.outputShape()
    let permutation = permutation(of: layer.inputShapes[0].dimensions)
    return [try layer.transposed(layer.inputs[0], permutation)]
  }
}
