import TensorCore

/// A function of inputs that stretch to a common shape as in numpy.
package protocol BroadcastingLayer: LayerParameters {}

extension BroadcastingLayer {
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs)
    return [try ArrayShape.checked(try ArrayShape.broadcast(inputs))]
  }
}

/// a + b.
package struct AddBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "addBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// a − b.
package struct SubtractBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "subtractBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// a · b.
package struct MultiplyBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "multiplyBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// a / b.
package struct DivideBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "divideBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// ⌊a / b⌋.
package struct FloorDivBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "floorDivBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// a − b · ⌊a / b⌋: the sign is the divisor's.
package struct ModBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "modBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// a ^ b.
package struct PowBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "powBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...2

  package var unknownFields = UnknownFields()

  package init() {}
}

/// The largest of the inputs.
package struct MaxBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "maxBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...Int.max

  package var unknownFields = UnknownFields()

  package init() {}
}

/// The smallest of the inputs.
package struct MinBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let typeName = "minBroadcastable"
  package static let specificationVersion = 4
  package static let inputCount = 2...Int.max

  package var unknownFields = UnknownFields()

  package init() {}
}
