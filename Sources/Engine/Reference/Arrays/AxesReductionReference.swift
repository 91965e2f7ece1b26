import CoreMLModel
import LibC
import TensorCore

/// A reference implementation that is a function of the elements along the reduced axes, and of
/// their sum.
protocol ReductionReference: ReferenceLayer, AxesReductionLayer {
  func reference(_ values: [Double], sum: Double) -> Double
}

extension ReductionReference {
  /// Groups the elements of the input, in order, by their position along the other axes.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let rank = input.shape.count
    let isReduced = (0..<rank).map { axis in
      reduceAll || axes.isEmpty || axes.contains(axis) || axes.contains(axis - rank)
    }
    var groups: [[Int]: [Double]] = [:]
    _ = ReferenceTensor.indexed(input.shape) { index in
      let element = zip(index, isReduced).map { $1 ? 0 : $0 }
      groups[element, default: []].append(input[index: index])
      return 0
    }
    let kept = zip(input.shape, isReduced).map { $1 ? 1 : $0 }
    let result = ReferenceTensor.indexed(kept) {
      let values = groups[$0] ?? []
      var sum = ReferenceSum(settings)
      sum.add(values)
      return reference(values, sum: sum.value)
    }
    return [result.reshaped(try outputShape(inputs))]
  }
}

extension ReduceL1: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double { values.reduce(0) { $0 + abs($1) } }
}

extension ReduceL2: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double {
    values.reduce(0) { $0 + $1 * $1 }.squareRoot()
  }
}

extension ReduceMax: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double {
    values.dropFirst().reduce(values[0], Swift.max)
  }
}

extension ReduceMin: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double {
    values.dropFirst().reduce(values[0], Swift.min)
  }
}

extension ReduceSum: ReductionReference, HalfSumLayer {
  func reference(_ values: [Double], sum: Double) -> Double { sum }
}

extension ReduceProd: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double { values.reduce(1, *) }
}

extension ReduceMean: ReductionReference, HalfSumLayer {
  func reference(_ values: [Double], sum: Double) -> Double { sum / Double(values.count) }
}

extension ReduceLogSum: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double { log(values.reduce(0, +)) }
}

extension ReduceSumSquare: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double { values.reduce(0) { $0 + $1 * $1 } }
}

extension ReduceLogSumExp: ReductionReference {
  func reference(_ values: [Double], sum: Double) -> Double {
    let largest = values.max() ?? 0
    return largest + log(values.reduce(0) { $0 + exp($1 - largest) })
  }
}

extension SoftmaxND: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let input = inputs[0]
    return try arrayOutput(inputs) { index in
      var element = index
      let row = (0..<shape[axis]).map { position in
        element[axis] = position
        return input[index: element]
      }
      let largest = row.max() ?? 0
      return exp(input[index: index] - largest) / row.reduce(0) { $0 + exp($1 - largest) }
    }
  }
}

extension LayerNormalization: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
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

extension BatchedMatMul: HalfSumLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let a = int8DynamicQuantize ? inputs[0].roundedToCodes : inputs[0]
    if inputs.count == 1 {
      let (depth, columns) = (weightMatrixFirstDimension, weightMatrixSecondDimension)
      let stored = try matrix.values([columns, depth], "weights")
      let offsets = try bias.biases(columns, areUsed: hasBias)
      return [
        ReferenceTensor.indexed(shape) { index in
          let column = index[index.count - 1]
          let row = a.offset(index.dropLast() + [0])
          var sum = ReferenceSum(Double(offsets[column]), settings)
          for k in 0..<depth { sum.add(a.elements[row + k] * Double(stored[column * depth + k])) }
          return sum.value
        }
      ]
    }
    let b = inputs[1]
    let (isRow, isColumn) = (a.shape.count == 1, b.shape.count == 1)
    let depth = a.shape[a.shape.count - (transposeA && !isRow ? 2 : 1)]
    let output = ReferenceTensor.indexed(shape) { index in
      var batch = index
      let column = batch.removeLast()
      let row = batch.removeLast()
      var sum = ReferenceSum(settings)
      for k in 0..<depth {
        let left = isRow ? [k] : transposeA ? [k, row] : [row, k]
        let right = isColumn ? [k] : transposeB ? [column, k] : [k, column]
        sum.add(a.broadcast(matrix: left, batch) * b.broadcast(matrix: right, batch))
      }
      return sum.value
    }
    return [output]
  }
}

extension ReferenceTensor {
  /// An element of one of the matrices, which are broadcast along axes of length 1.
  fileprivate func broadcast(matrix: [Int], _ batch: [Int]) -> Double {
    let axes = shape.dropLast(matrix.count)
    let element = zip(batch.suffix(axes.count), axes).map { $1 == 1 ? 0 : $0 }
    return self[index: element + matrix]
  }
}
