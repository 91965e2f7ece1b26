import TensorCore

/// A function of inputs that are broadcast to a common shape as in NumPy.
package protocol BroadcastingLayer: ArrayLayer {}

extension BroadcastingLayer {
  package static var minimumRank: Int { 0 }
  package static var inputCount: ClosedRange<Int> { 2...2 }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs)
    return [try checkedShape(try ArrayShape.broadcast(inputs))]
  }
}

/// a + b.
package struct AddBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a − b.
package struct SubtractBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a · b.
package struct MultiplyBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a / b.
package struct DivideBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// ⌊a / b⌋.
package struct FloorDivBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a − b · ⌊a / b⌋, with the sign of the divisor.
package struct ModBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a ^ b.
package struct PowBroadcastable: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// The largest of the inputs.
package struct MaxBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}
}

/// The smallest of the inputs.
package struct MinBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let inputCount = 2...2

  package init() {}
}
