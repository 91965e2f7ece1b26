import CoreMLModel
import TensorCore

/// A reference implementation that broadcasts its first input.
protocol BroadcastReference: ReferenceFormula {}

extension BroadcastReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { inputs[0].broadcast($0) }
  }
}

extension BroadcastToStatic: BroadcastReference {}
extension BroadcastToLike: BroadcastReference {}

extension Tile: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    return try arrayOutput(inputs) { index in
      input[index: zip(index, input.shape).map { $0 % $1 }]
    }
  }
}

extension ConstantPad: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let shape = try outputShape(inputs)
    // For a given output size, all padding goes to the side with a nonzero amount.
    let before = input.shape.indices.map { axis in
      padToGivenOutputSizeMode
        ? (padAmounts[2 * axis] > 0 ? shape[axis] - input.shape[axis] : 0) : padAmounts[2 * axis]
    }
    return try arrayOutput(inputs) { index in
      let source = zip(index, before).map { $0 - $1 }
      let isInside = zip(source, input.shape).allSatisfy { $0 >= 0 && $0 < $1 }
      return isInside ? input[index: source] : Double(value)
    }
  }
}
