import CoreMLModel
import TensorCore

extension Crop: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let top = inputs.count == 1 ? cropAmounts?.top ?? 0 : offset.first ?? 0
    let left = inputs.count == 1 ? cropAmounts?.left ?? 0 : offset.last ?? 0
    return try planeOutput(inputs) { p in
      input[p.sequence, p.batch, p.channel, p.y + top, p.x + left]
    }
  }
}
