/// An elementwise condition that returns 1 or 0.
package protocol ComparisonLayer: BroadcastingLayer {
  /// The number that a single input is compared with.
  var alpha: Float { get set }
}

extension ComparisonLayer {
  package static var fields: [Field<Self>] { [.float("alpha", \.alpha)] }
  package static var inputCount: ClosedRange<Int> { 1...2 }
}

/// a = b elementwise; a single input is compared with `alpha`.
package struct Equal: ComparisonLayer {
  package var alpha: Float = 0

  package init() {}
}

/// a ≠ b elementwise; a single input is compared with `alpha`.
package struct NotEqual: ComparisonLayer {
  package var alpha: Float = 0

  package init() {}
}

/// a < b elementwise; a single input is compared with `alpha`.
package struct LessThan: ComparisonLayer {
  package var alpha: Float = 0

  package init() {}
}

/// a ≤ b elementwise; a single input is compared with `alpha`.
package struct LessEqual: ComparisonLayer {
  package var alpha: Float = 0

  package init() {}
}

/// a > b elementwise; a single input is compared with `alpha`.
package struct GreaterThan: ComparisonLayer {
  package var alpha: Float = 0

  package init() {}
}

/// a ≥ b elementwise; a single input is compared with `alpha`.
package struct GreaterEqual: ComparisonLayer {
  package var alpha: Float = 0

  package init() {}
}
