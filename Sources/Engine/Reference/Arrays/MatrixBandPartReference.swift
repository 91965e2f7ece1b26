import CoreMLModel
import TensorCore

extension ReferenceTensor {
  /// The elements at rows and columns for which the condition holds.
  fileprivate func kept(_ condition: (Int, Int) -> Bool) -> ReferenceTensor {
    ReferenceTensor.indexed(shape) { index in
      condition(index[index.count - 2], index[index.count - 1]) ? self[index: index] : 0
    }
  }
}

extension MatrixBandPart: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    _ = try outputShape(inputs)
    return [
      inputs[0].kept { row, column in
        (numLower < 0 || row - column <= numLower) && (numUpper < 0 || column - row <= numUpper)
      }
    ]
  }
}

extension LowerTriangular: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    _ = try outputShape(inputs)
    return [inputs[0].kept { row, column in column - row <= k }]
  }
}

extension UpperTriangular: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    _ = try outputShape(inputs)
    return [inputs[0].kept { row, column in column - row >= k }]
  }
}
