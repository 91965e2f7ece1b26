/// Amounts added to or removed from the two ends of H, then of W.
package struct BorderAmounts: SpecificationMessage {
  package struct EdgeSizes: SpecificationMessage {
    package var startEdgeSize = 0
    package var endEdgeSize = 0
    package var unknownFields = UnknownFields()

    package init() {}
  }

  package var borderAmounts: [EdgeSizes] = []
  package var unknownFields = UnknownFields()

  package init() {}

  package init(top: Int, bottom: Int, left: Int, right: Int) {
    borderAmounts = [(top, bottom), (left, right)].map {
      EdgeSizes().with(\.startEdgeSize, $0).with(\.endEdgeSize, $1)
    }
  }

  package var top: Int { borderAmounts.first?.startEdgeSize ?? 0 }
  package var bottom: Int { borderAmounts.first?.endEdgeSize ?? 0 }
  package var left: Int { borderAmounts.count > 1 ? borderAmounts[1].startEdgeSize : 0 }
  package var right: Int { borderAmounts.count > 1 ? borderAmounts[1].endEdgeSize : 0 }

  package static let fields: Fields = [.messages("borderAmounts", \.borderAmounts)]
}

/// Explicit padding: out = ⌊(in + start + end − kernel) / stride⌋ + 1.
package struct ValidPadding: SpecificationMessage {
  package var paddingAmounts: BorderAmounts?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.message("paddingAmounts", \.paddingAmounts)]
}

/// Padding such that out = ⌈in / stride⌉.
package struct SamePadding: SpecificationMessage {
  package enum Mode: Int, Sendable, CaseIterable {
    /// An odd row or column goes to the bottom or right.
    case bottomRightHeavy = 0
    case topLeftHeavy = 1
  }

  package var asymmetryMode = Mode.bottomRightHeavy
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.value("asymmetryMode", \.asymmetryMode)]
}

extension BorderAmounts.EdgeSizes {
  package static let fields: Fields = [
    .int("startEdgeSize", \.startEdgeSize),
    .int("endEdgeSize", \.endEdgeSize),
  ]
}
