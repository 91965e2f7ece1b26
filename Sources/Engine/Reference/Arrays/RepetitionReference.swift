import CoreMLModel
import TensorCore

extension BroadcastToStatic: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [ReferenceTensor.indexed(try outputShape(inputs)) { inputs[0].stretched($0) }]
  }
}

extension BroadcastToLike: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    [ReferenceTensor.indexed(try outputShape(inputs)) { inputs[0].stretched($0) }]
  }
}

extension Tile: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        input[index: zip(index, input.shape).map { $0 % $1 }]
      }
    ]
  }
}

extension ConstantPad: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let before = try amounts(input.shape).map(\.before)
    return [
      ReferenceTensor.indexed(try outputShape(inputs)) { index in
        let source = zip(index, before).map { $0 - $1 }
        let isInside = zip(source, input.shape).allSatisfy { $0 >= 0 && $0 < $1 }
        return isInside ? input[index: source] : Double(value)
      }
    ]
  }
}
