import TensorCore

/// A reduction over some axes; over all of them if `reduceAll` is set or none are listed.
package protocol AxesReductionLayer: ArrayLayer {
  /// Negative values count from the end.
  var axes: [Int] { get set }
  /// Whether reduced axes are kept with length 1.
  var keepDims: Bool { get set }
  var reduceAll: Bool { get set }
}

extension AxesReductionLayer {
  package static var fields: [Field<Self>] {
    [.ints("axes", \.axes), .bool("keepDims", \.keepDims), .bool("reduceAll", \.reduceAll)]
  }

  /// The reduced axes, in ascending order.
  package func reducedAxes(rank: Int) throws -> [Int] {
    reduceAll || axes.isEmpty ? Array(0..<rank) : try ArrayShape.axes(axes, rank: rank)
  }

  /// `[1]` if no axes remain.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    let reduced = try reducedAxes(rank: shape.count)
    let kept = shape.indices.compactMap { axis in
      reduced.contains(axis) ? keepDims ? 1 : nil : shape[axis]
    }
    return [try ArrayShape.checked(kept.isEmpty ? [1] : kept)]
  }
}

/// Σ |x|.
package struct ReduceL1: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// √Σ x².
package struct ReduceL2: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// The maximum.
package struct ReduceMax: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// The minimum.
package struct ReduceMin: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// Σ x.
package struct ReduceSum: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// ∏ x.
package struct ReduceProd: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// The mean.
package struct ReduceMean: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// log Σ x.
package struct ReduceLogSum: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// Σ x².
package struct ReduceSumSquare: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}

/// log Σ exp x.
package struct ReduceLogSumExp: AxesReductionLayer {
  package var axes: [Int] = []
  package var keepDims = false
  package var reduceAll = false

  package init() {}
}
