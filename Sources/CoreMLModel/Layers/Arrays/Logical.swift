/// a or b, as 1 and 0; every value but 0 counts as true.
public struct LogicalOr: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "logicalOr"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// Either a or b, as 1 and 0; every value but 0 counts as true.
public struct LogicalXor: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "logicalXor"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// Not a, as 1 and 0; every value but 0 counts as true.
public struct LogicalNot: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "logicalNot"
  public static let specificationVersion = 4
  public static let inputCount = 1...1

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a and b, as 1 and 0; every value but 0 counts as true.
public struct LogicalAnd: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "logicalAnd"
  public static let specificationVersion = 4
  public static let inputCount = 2...2

  public var unknownFields = UnknownFields()

  public init() {}
}

/// a where the condition is not 0, elsewhere b; inputs condition, a, b.
public struct WhereBroadcastable: BroadcastingLayer, ParameterlessLayer {
  public static let typeName = "whereBroadcastable"
  public static let specificationVersion = 4
  public static let inputCount = 3...3

  public var unknownFields = UnknownFields()

  public init() {}
}
