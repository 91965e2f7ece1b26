/// a or b, as 1 or 0; every value except 0 is true.
package struct LogicalOr: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a xor b, as 1 or 0; every value except 0 is true.
package struct LogicalXor: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// not a, as 1 or 0; every value except 0 is true.
package struct LogicalNot: BroadcastingLayer, ParameterlessLayer {
  package static let inputCount = 1...1

  package init() {}
}

/// a and b, as 1 or 0; every value except 0 is true.
package struct LogicalAnd: BroadcastingLayer, ParameterlessLayer { package init() {} }

/// a if the condition is not 0, otherwise b; the inputs are condition, a, b.
package struct WhereBroadcastable: BroadcastingLayer, ParameterlessLayer {
  package static let inputCount = 3...3

  package init() {}
}
