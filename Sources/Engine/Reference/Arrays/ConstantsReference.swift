import CoreMLModel
import TensorCore

extension LoadConstantND: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let values = try data.values(shape, "data")
    return [ReferenceTensor(shape: try outputShape(inputs), values.map(Double.init))]
  }
}

extension FillStatic: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [ReferenceTensor(shape: try outputShape(inputs), repeating: Double(value))]
  }
}

extension FillLike: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [ReferenceTensor(shape: try outputShape(inputs), repeating: Double(value))]
  }
}

extension RangeStatic: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      ReferenceTensor.indexed(shape) { Double(startValue) + Double($0[0]) * Double(stepSizeValue) }
    ]
  }
}

extension GetShape: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [ReferenceTensor(shape: try outputShape(inputs), inputs[0].shape.map(Double.init))]
  }
}
