/// An elementwise function of an array of any rank.
package protocol ElementFunctionLayer: ArrayLayer, ShapeKeepingLayer {}

extension ElementFunctionLayer {
  package static var minimumRank: Int { 0 }
}

/// ⌈x⌉.
package struct Ceil: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// ⌊x⌋.
package struct Floor: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// 1, 0 or −1, the sign of x.
package struct Sign: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// Rounds to the nearest integer, with ties to even.
package struct Round: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// 2 ^ x.
package struct Exp2: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// sin x.
package struct Sin: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// cos x.
package struct Cos: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// tan x.
package struct Tan: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// arcsin x.
package struct Asin: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// arccos x.
package struct Acos: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// arctan x.
package struct Atan: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// sinh x.
package struct Sinh: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// cosh x.
package struct Cosh: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// tanh x.
package struct Tanh: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// arsinh x.
package struct Asinh: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// arcosh x.
package struct Acosh: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// artanh x.
package struct Atanh: ElementFunctionLayer, ParameterlessLayer { package init() {} }

/// 2/√π · ∫₀ˣ exp(−t²) dt.
package struct Erf: ElementFunctionLayer, ParameterlessLayer { package init() {} }
