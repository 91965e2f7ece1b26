import CoreMLModel
import TensorCore

extension ReferenceTensor {
  /// Positions along an axis sorted by their elements; equal elements keep their order.
  fileprivate func positions(_ axis: Int, descending: Bool) -> ([Int]) -> [Int] {
    { line in
      let values = (0..<shape[axis]).map { position in
        var index = line
        index[axis] = position
        return self[index: index]
      }
      return values.indices.sorted { a, b in
        let (x, y) = (values[a], values[b])
        return x == y ? a < b : descending ? x > y : x < y
      }
    }
  }

  /// The index of the largest or smallest element along an axis.
  fileprivate func extremum(_ axis: Int, descending: Bool, _ shape: [Int]) -> ReferenceTensor {
    var kept = self.shape
    kept[axis] = 1
    let order = positions(axis, descending: descending)
    return ReferenceTensor.indexed(kept) { Double(order($0)[0]) }.reshaped(shape)
  }
}

extension ArgMax: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let axis = try ArrayShape.axis(axis, rank: inputs[0].shape.count)
    return [inputs[0].extremum(axis, descending: true, try outputShape(inputs))]
  }
}

extension ArgMin: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let axis = try ArrayShape.axis(axis, rank: inputs[0].shape.count)
    return [inputs[0].extremum(axis, descending: false, try outputShape(inputs))]
  }
}

extension TopK: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let order = inputs[0].positions(axis, descending: !useBottomK)
    let positions = ReferenceTensor.indexed(shape) { Double(order($0)[$0[axis]]) }
    let values = ReferenceTensor.indexed(shape) { index in
      var source = index
      source[axis] = Int(positions[index: index])
      return inputs[0][index: source]
    }
    return [values, positions]
  }
}

extension ArgSort: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    let order = inputs[0].positions(axis, descending: descending)
    return [ReferenceTensor.indexed(shape) { Double(order($0)[$0[axis]]) }]
  }
}

extension CumSum: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let axis = try ArrayShape.axis(axis, rank: shape.count)
    return try arrayOutput(inputs) { index in
      let position = index[axis]
      let others = reverse ? position + 1..<shape[axis] : 0..<position
      let own = excludeFinalSum ? 0 : inputs[0][index: index]
      return others.reduce(own) { sum, other in
        var source = index
        source[axis] = other
        return sum + inputs[0][index: source]
      }
    }
  }
}
