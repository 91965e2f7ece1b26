/// Amounts added to or taken from the two ends of H, then of W.
public struct BorderAmounts: SpecificationMessage {
  public struct EdgeSizes: SpecificationMessage {
    public var startEdgeSize = 0
    public var endEdgeSize = 0
    public var unknownFields = UnknownFields()

    public init() {}
  }

  public var borderAmounts: [EdgeSizes] = []
  public var unknownFields = UnknownFields()

  public init() {}

  public init(top: Int, bottom: Int, left: Int, right: Int) {
    var height = EdgeSizes()
    height.startEdgeSize = top
    height.endEdgeSize = bottom
    var width = EdgeSizes()
    width.startEdgeSize = left
    width.endEdgeSize = right
    borderAmounts = [height, width]
  }

  public var top: Int { borderAmounts.first?.startEdgeSize ?? 0 }
  public var bottom: Int { borderAmounts.first?.endEdgeSize ?? 0 }
  public var left: Int { borderAmounts.count > 1 ? borderAmounts[1].startEdgeSize : 0 }
  public var right: Int { borderAmounts.count > 1 ? borderAmounts[1].endEdgeSize : 0 }
}

/// Explicit padding: out = ⌊(in + start + end − kernel) / stride⌋ + 1.
public struct ValidPadding: SpecificationMessage {
  public var paddingAmounts: BorderAmounts?
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Padding such that out = ⌈in / stride⌉.
public struct SamePadding: SpecificationMessage {
  public enum Mode: Int, Sendable, CaseIterable {
    /// The odd one goes to the bottom and to the right.
    case bottomRightHeavy = 0
    case topLeftHeavy = 1
  }

  public var asymmetryMode = Mode.bottomRightHeavy
  public var unknownFields = UnknownFields()

  public init() {}
}

extension BorderAmounts: EncodedMessage {
  static let fields: [Field<Self>] = [
    .messages("borderAmounts", \.borderAmounts)
  ]
}

extension BorderAmounts.EdgeSizes: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("startEdgeSize", \.startEdgeSize),
    .int("endEdgeSize", \.endEdgeSize),
  ]
}

extension ValidPadding: EncodedMessage {
  static let fields: [Field<Self>] = [
    .message("paddingAmounts", \.paddingAmounts)
  ]
}

extension SamePadding: EncodedMessage {
  static let fields: [Field<Self>] = [
    .value("asymmetryMode", \.asymmetryMode)
  ]
}
