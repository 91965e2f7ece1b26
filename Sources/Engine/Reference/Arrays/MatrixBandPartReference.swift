import CoreMLModel

/// A reference implementation that selects which elements of a matrix to keep.
protocol BandReference: ReferenceFormula { func keeps(row: Int, column: Int) -> Bool }

extension BandReference {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    try arrayOutput(inputs) { index in
      keeps(row: index[index.count - 2], column: index[index.count - 1])
        ? inputs[0][index: index] : 0
    }
  }
}

extension MatrixBandPart: BandReference {
  func keeps(row: Int, column: Int) -> Bool {
    (numLower < 0 || row - column <= numLower) && (numUpper < 0 || column - row <= numUpper)
  }
}

extension LowerTriangular: BandReference {
  func keeps(row: Int, column: Int) -> Bool { column - row <= k }
}

extension UpperTriangular: BandReference {
  func keeps(row: Int, column: Int) -> Bool { column - row >= k }
}
