import TensorCore

/// Maximum or average over windows of `[B, C, D, H, W]`.
package struct Pooling3D: ArrayLayer {
  package enum PoolingType: Int, Sendable, CaseIterable {
    case max = 0
    case average = 1
  }

  package static let typeName = "pooling3d"
  package static let specificationVersion = 5
  package static let minimumRank = 5

  package var type = PoolingType.max
  package var window = VolumeWindow()
  /// Whether the divisor of an average excludes padding.
  package var countExcludePadding = false

  package init() {}

  package static let fields: Fields =
    [.value("type", \.type), .bool("countExcludePadding", \.countExcludePadding)]
    + VolumeWindow.fields(isDilated: false).map { $0.lifted(to: \.window) }

  /// The windows along D, H and W for an input of these sizes.
  package func windows(_ size: [Int]) throws -> [AxisWindow] {
    try (0..<3).map { axis in
      let padding = window.amounts(axis)
      try require(
        max(padding.0, padding.1) < max(1, window.kernel[axis]),
        "padding \(padding) is too large for windows of \(window.kernel[axis])",
        field: "customPadding")
      return try window.along(axis, size: size[axis])
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.count == 5, "the input has the shape \(shape); expected [B, C, D, H, W]", field: "input"
    )
    return [try ArrayShape.checked(shape[..<2] + (try windows(Array(shape[2...])).map(\.output)))]
  }

  package func check(_ faults: inout ValidationIssues) { window.check("windows", &faults) }
}

/// Maximum or average over D, H and W of `[B, C, D, H, W]`, which become 1.
package struct GlobalPooling3D: ArrayLayer {
  package typealias PoolingType = Pooling3D.PoolingType

  package static let typeName = "globalPooling3d"
  package static let specificationVersion = 5
  package static let minimumRank = 5

  package var type = PoolingType.max

  package init() {}

  package static let fields: Fields = [.value("type", \.type)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.count == 5, "the input has the shape \(shape); expected [B, C, D, H, W]", field: "input"
    )
    return [try ArrayShape.checked(shape[..<2] + [1, 1, 1])]
  }
}
