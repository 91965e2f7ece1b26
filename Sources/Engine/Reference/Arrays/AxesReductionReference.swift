import CoreMLModel
import LibC
import TensorCore

extension AxesReductionLayer where Self: ReferenceLayer {
  /// A function of the reduced elements of each place.
  fileprivate func reduced(
    _ inputs: [ReferenceTensor], _ function: ([Double]) -> Double
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let axes = try reducedAxes(rank: input.shape.count)
    let kept = input.shape.indices.map { axes.contains($0) ? 1 : input.shape[$0] }
    let part = input.shape.indices.map { axes.contains($0) ? input.shape[$0] : 1 }
    let result = ReferenceTensor.indexed(kept) { index in
      function(
        ReferenceTensor.indexed(part) { place in
          input[index: zip(index, place).map { $0 + $1 }]
        }.elements)
    }
    return [result.reshaped(shape)]
  }
}

extension ReduceL1: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.reduce(0) { $0 + abs($1) } }
  }
}

extension ReduceL2: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.reduce(0) { $0 + $1 * $1 }.squareRoot() }
  }
}

extension ReduceMax: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.dropFirst().reduce($0[0]) { Swift.max($0, $1) } }
  }
}

extension ReduceMin: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.dropFirst().reduce($0[0]) { Swift.min($0, $1) } }
  }
}

extension ReduceSum: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.reduce(0, +) }
  }
}

extension ReduceProd: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.reduce(1, *) }
  }
}

extension ReduceMean: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.reduce(0, +) / Double($0.count) }
  }
}

extension ReduceLogSum: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { log($0.reduce(0, +)) }
  }
}

extension ReduceSumSquare: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { $0.reduce(0) { $0 + $1 * $1 } }
  }
}

extension ReduceLogSumExp: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    try reduced(inputs) { values in
      let largest = values.max() ?? 0
      return largest + log(values.reduce(0) { $0 + exp($1 - largest) })
    }
  }
}

extension SoftmaxND: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let input = inputs[0]
    return [
      ReferenceTensor.indexed(shape) { index in
        var place = index
        let row = (0..<shape[axis]).map { position in
          place[axis] = position
          return input[index: place]
        }
        let largest = row.max() ?? 0
        return exp(input[index: index] - largest) / row.reduce(0) { $0 + exp($1 - largest) }
      }
    ]
  }
}

extension LayerNormalization: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let length = try checkedProduct(normalizedShape)
    let scale = try gamma.values(normalizedShape, "gamma")
    let offset = try beta.values(normalizedShape, "beta")
    var elements = inputs[0].elements
    for start in stride(from: 0, to: elements.count, by: length) {
      let row = inputs[0].elements[start..<start + length]
      let mean = row.reduce(0, +) / Double(length)
      let variance = row.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(length)
      for index in 0..<length {
        elements[start + index] =
          Double(scale[index]) * (row[start + index] - mean)
          / (variance + Double(eps)).squareRoot() + Double(offset[index])
      }
    }
    return [ReferenceTensor(shape: shape, elements)]
  }
}

extension BatchedMatMul: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let a = inputs[0]
    if inputs.count == 1 {
      let (depth, columns) = (weightMatrixFirstDimension, weightMatrixSecondDimension)
      let stored = try matrix.values([columns, depth], "weights")
      let offsets =
        hasBias ? try bias.values([columns], "bias") : [Float](repeating: 0, count: columns)
      return [
        ReferenceTensor.indexed(shape) { index in
          let column = index[index.count - 1]
          let row = a.offset(index.dropLast() + [0])
          return (0..<depth).reduce(Double(offsets[column])) {
            $0 + a.elements[row + $1] * Double(stored[column * depth + $1])
          }
        }
      ]
    }
    let b = inputs[1]
    let depth = try matrixSizes([a.shape, b.shape]).depth
    let (isRow, isColumn) = (a.shape.count == 1, b.shape.count == 1)
    return [
      ReferenceTensor.indexed(shape) { index in
        var batch = index
        let column = isColumn ? 0 : batch.removeLast()
        let row = isRow || batch.isEmpty ? 0 : batch.removeLast()
        if isRow, isColumn { batch = [] }
        return (0..<depth).reduce(0) { sum, k in
          let left = isRow ? [k] : transposeA ? [k, row] : [row, k]
          let right = isColumn ? [k] : transposeB ? [column, k] : [k, column]
          return sum + a.stretched(matrix: left, batch) * b.stretched(matrix: right, batch)
        }
      }
    ]
  }
}

extension ReferenceTensor {
  /// An element of one of the matrices, which repeat along axes of length 1.
  fileprivate func stretched(matrix: [Int], _ batch: [Int]) -> Double {
    let axes = shape.dropLast(matrix.count)
    let place = zip(batch.suffix(axes.count), axes).map { $1 == 1 ? 0 : $0 }
    return self[index: place + matrix]
  }
}
