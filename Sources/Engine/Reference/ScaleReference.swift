import CoreMLModel
import TensorCore

extension Scale: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let factor = try constant(scale, shapeScale, "scale")
    let offset = hasBias ? try constant(bias, shapeBias, "bias") : nil
    return try planeOutput(inputs) { p in
      factor.broadcast(p) * inputs[0][p] + (offset?.broadcast(p) ?? 0)
    }
  }
}

extension Bias: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let outputShape = try outputShape(inputs)
    let offset = try constant(bias, shape, "bias")
    return [ReferenceTensor(shape: outputShape) { p in inputs[0][p] + offset.broadcast(p) }]
  }
}

extension LoadConstant: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let outputShape = try outputShape(inputs)
    let values = try data.values(outputShape, "data")
    return [ReferenceTensor(shape: outputShape, values.map(Double.init))]
  }
}

/// Weights of shape `[1]`, `[C]`, `[1, H, W]` or `[C, H, W]` as a tensor.
private func constant(_ weights: Weights?, _ shape: [Int], _ field: String) throws
  -> ReferenceTensor
{
  let values = try weights.values(shape, field).map(Double.init)
  let sizes = shape.count == 3 ? shape : [values.count, 1, 1]
  return ReferenceTensor(shape: [1, 1] + sizes, values)
}
