/// A function of each element of an array of any rank.
public protocol ElementFunctionLayer: LayerParameters {}

extension ElementFunctionLayer {
  public static var specificationVersion: Int { 4 }

  public func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    [try ArrayShape.checked(try arrayInput(inputs))]
  }
}

/// ⌈x⌉.
public struct Ceil: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "ceil"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// ⌊x⌋.
public struct Floor: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "floor"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// 1, 0 or −1.
public struct Sign: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "sign"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// To the nearest whole number, halves to the even one.
public struct Round: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "round"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// 2 ^ x.
public struct Exp2: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "exp2"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// sin x.
public struct Sin: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "sin"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// cos x.
public struct Cos: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "cos"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// tan x.
public struct Tan: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "tan"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// arcsin x.
public struct Asin: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "asin"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// arccos x.
public struct Acos: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "acos"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// arctan x.
public struct Atan: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "atan"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// sinh x.
public struct Sinh: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "sinh"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// cosh x.
public struct Cosh: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "cosh"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// tanh x.
public struct Tanh: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "tanh"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// arsinh x.
public struct Asinh: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "asinh"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// arcosh x.
public struct Acosh: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "acosh"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// artanh x.
public struct Atanh: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "atanh"

  public var unknownFields = UnknownFields()

  public init() {}
}

/// 2/√π · ∫₀ˣ exp(−t²) dt.
public struct Erf: ElementFunctionLayer, ParameterlessLayer {
  public static let typeName = "erf"

  public var unknownFields = UnknownFields()

  public init() {}
}
