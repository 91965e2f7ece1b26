import CoreMLModel
import Kernels
import TensorCore

extension LayerLowering {
  /// A weight of shape `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]` for blobs of `shape`.
  fileprivate func broadcastWeight(
    _ weights: Weights?, _ sizes: [Int], _ shape: Shape, _ field: String
  ) throws -> (values: [Float], shape: Shape) {
    let item: [Int]
    switch sizes.count {
    case 1: item = [sizes[0], 1, 1]
    case 3: item = sizes
    default:
      throw ModelError(
        .malformed, "\(sizes) is invalid; one or three sizes are needed", field: field)
    }
    let result = try Shape([1, 1] + item)
    let fits = zip(item, [shape.channels, shape.height, shape.width]).allSatisfy {
      $0 == 1 || $0 == $1
    }
    try require(fits, "\(sizes) does not fit a blob of shape \(shape.dimensions)", field: field)
    return (try values(weights, item, field).array(), result)
  }

  /// value ∘ weight: a function per channel if the weight has one value per channel, otherwise a
  /// function of two blobs.
  fileprivate mutating func apply(
    _ function: CombiningKind, _ weight: (values: [Float], shape: Shape), to value: Graph.ValueID
  ) throws -> Graph.ValueID {
    let shape = graph.shape(value)
    if weight.shape.area == 1 {
      let one = ScaledFunction.Parameter.scalar(1)
      let zero = ScaledFunction.Parameter.scalar(0)
      let own: ScaledFunction.Parameter =
        weight.values.count == 1 ? .scalar(weight.values[0]) : .perChannel(weight.values)
      let element = ScaledFunction(
        .linear, alpha: function == .multiply ? own : one, beta: function == .add ? own : zero)
      return add(ElementwiseOperation(function: element), [value], shape)
    }
    let operand = try constant(weight.values, weight.shape)
    let operation = CombineOperation(function: function == .multiply ? .multiply : .add)
    return add(operation, [value, operand], shape)
  }

  fileprivate enum CombiningKind {
    case multiply
    case add
  }
}

extension Scale: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let factor = try layer.broadcastWeight(scale, shapeScale, shape, "scale")
    var result = try layer.apply(.multiply, factor, to: layer.inputs[0])
    if hasBias {
      let offset = try layer.broadcastWeight(bias, shapeBias, shape, "bias")
      result = try layer.apply(.add, offset, to: result)
    }
    return [result]
  }
}

extension Bias: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let offset = try layer.broadcastWeight(bias, shape, try layer.outputShape(), "bias")
    return [try layer.apply(.add, offset, to: layer.inputs[0])]
  }
}

extension LoadConstant: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let output = try layer.outputShape()
    return [try layer.constant(try layer.values(data, output.dimensions, "data").array(), output)]
  }
}
