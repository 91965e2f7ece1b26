/// A function of each element of an array of any rank.
package protocol ElementFunctionLayer: ArrayLayer, ShapeKeepingLayer {}

/// ⌈x⌉.
package struct Ceil: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// ⌊x⌋.
package struct Floor: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// 1, 0 or −1.
package struct Sign: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// To the nearest whole number, halves to the even one.
package struct Round: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// 2 ^ x.
package struct Exp2: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// sin x.
package struct Sin: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// cos x.
package struct Cos: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// tan x.
package struct Tan: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// arcsin x.
package struct Asin: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// arccos x.
package struct Acos: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// arctan x.
package struct Atan: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// sinh x.
package struct Sinh: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// cosh x.
package struct Cosh: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// tanh x.
package struct Tanh: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// arsinh x.
package struct Asinh: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// arcosh x.
package struct Acosh: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// artanh x.
package struct Atanh: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}

/// 2/√π · ∫₀ˣ exp(−t²) dt.
package struct Erf: ElementFunctionLayer, ParameterlessLayer {
  package var unknownFields = UnknownFields()

  package init() {}
}
