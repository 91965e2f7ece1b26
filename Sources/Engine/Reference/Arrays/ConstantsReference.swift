import CoreMLModel
import TensorCore

extension LoadConstantND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let values = try data.values(shape, "data")
    return [ReferenceTensor(shape: try outputShape(inputs), values.map(Double.init))]
  }
}

extension FillStatic: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    [ReferenceTensor(shape: try outputShape(inputs), repeating: Double(value))]
  }
}

extension FillLike: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    [ReferenceTensor(shape: try outputShape(inputs), repeating: Double(value))]
  }
}

extension RangeStatic: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    return [
      ReferenceTensor.indexed(shape) { Double(startValue) + Double($0[0]) * Double(stepSizeValue) }
    ]
  }
}

extension GetShape: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    [ReferenceTensor(shape: try outputShape(inputs), inputs[0].shape.map(Double.init))]
  }
}
