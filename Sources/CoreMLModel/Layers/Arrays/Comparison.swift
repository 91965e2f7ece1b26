/// A condition on each element, whose results are 1 and 0.
package protocol ComparisonLayer: BroadcastingLayer {
  /// What a single input is compared with.
  var alpha: Float { get set }
}

extension ComparisonLayer {
  package static var specificationVersion: Int { 4 }
  package static var inputCount: ClosedRange<Int> { 1...2 }
}

/// a = b, element by element; a single input is compared with `alpha`.
package struct Equal: ComparisonLayer {
  package static let typeName = "equal"

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// a ≠ b, element by element; a single input is compared with `alpha`.
package struct NotEqual: ComparisonLayer {
  package static let typeName = "notEqual"

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// a < b, element by element; a single input is compared with `alpha`.
package struct LessThan: ComparisonLayer {
  package static let typeName = "lessThan"

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// a ≤ b, element by element; a single input is compared with `alpha`.
package struct LessEqual: ComparisonLayer {
  package static let typeName = "lessEqual"

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// a > b, element by element; a single input is compared with `alpha`.
package struct GreaterThan: ComparisonLayer {
  package static let typeName = "greaterThan"

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

/// a ≥ b, element by element; a single input is compared with `alpha`.
package struct GreaterEqual: ComparisonLayer {
  package static let typeName = "greaterEqual"

  package var alpha: Float = 0
  package var unknownFields = UnknownFields()

  package init() {}
}

extension Equal: EncodedMessage {
  static let fields: [Field<Self>] = [.float("alpha", \.alpha)]
}

extension NotEqual: EncodedMessage {
  static let fields: [Field<Self>] = [.float("alpha", \.alpha)]
}

extension LessThan: EncodedMessage {
  static let fields: [Field<Self>] = [.float("alpha", \.alpha)]
}

extension LessEqual: EncodedMessage {
  static let fields: [Field<Self>] = [.float("alpha", \.alpha)]
}

extension GreaterThan: EncodedMessage {
  static let fields: [Field<Self>] = [.float("alpha", \.alpha)]
}

extension GreaterEqual: EncodedMessage {
  static let fields: [Field<Self>] = [.float("alpha", \.alpha)]
}
