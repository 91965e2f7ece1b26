/// A condition on each element, whose results are 1 and 0.
public protocol ComparisonLayer: BroadcastingLayer {
  /// What a single input is compared with.
  var alpha: Float { get set }
}

extension ComparisonLayer {
  public static var specificationVersion: Int { 4 }
  public static var inputCount: ClosedRange<Int> { 1...2 }
}

/// a = b, element by element; a single input is compared with `alpha`.
public struct Equal: ComparisonLayer {
  public static let typeName = "equal"

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// a ≠ b, element by element; a single input is compared with `alpha`.
public struct NotEqual: ComparisonLayer {
  public static let typeName = "notEqual"

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// a < b, element by element; a single input is compared with `alpha`.
public struct LessThan: ComparisonLayer {
  public static let typeName = "lessThan"

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// a ≤ b, element by element; a single input is compared with `alpha`.
public struct LessEqual: ComparisonLayer {
  public static let typeName = "lessEqual"

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// a > b, element by element; a single input is compared with `alpha`.
public struct GreaterThan: ComparisonLayer {
  public static let typeName = "greaterThan"

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// a ≥ b, element by element; a single input is compared with `alpha`.
public struct GreaterEqual: ComparisonLayer {
  public static let typeName = "greaterEqual"

  public var alpha: Float = 0
  public var unknownFields = UnknownFields()

  public init() {}
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
