import TensorCore

/// A function of inputs that stretch to a common shape as in numpy.
public protocol BroadcastingLayer: LayerParameters {}

extension BroadcastingLayer {
  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    try requireInputs(inputs)
    return [try ArrayShape.checked(try ArrayShape.broadcast(inputs))]
  }
}

/// a + b.
public struct AddBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "addBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a − b.
public struct SubtractBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "subtractBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a · b.
public struct MultiplyBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "multiplyBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a / b.
public struct DivideBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "divideBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// ⌊a / b⌋.
public struct FloorDivBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "floorDivBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a − b · ⌊a / b⌋: the sign is the divisor's.
public struct ModBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "modBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a ^ b.
public struct PowBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "powBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// The largest of the inputs.
public struct MaxBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "maxBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}

/// The smallest of the inputs.
public struct MinBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "minBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 2...Int.max

  public var unknownFields = UnknownFields()

  public init() {}
}
