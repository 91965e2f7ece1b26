import TensorCore

/// Maximum or average over windows of `[B, C, D, H, W]`.
package struct Pooling3D: ArrayLayer {
  package enum PoolingType: Int, Sendable, CaseIterable {
    case max = 0
    case average = 1
  }

  package typealias PaddingType = Convolution3D.PaddingType

  package static let typeName = "pooling3d"
  package static let specificationVersion = 5
  package static let minimumRank = 5

  package var type = PoolingType.max
  package var kernelDepth = 0
  package var kernelHeight = 0
  package var kernelWidth = 0
  package var strideDepth = 0
  package var strideHeight = 0
  package var strideWidth = 0
  package var paddingType = PaddingType.custom
  package var customPaddingFront = 0
  package var customPaddingBack = 0
  package var customPaddingTop = 0
  package var customPaddingBottom = 0
  package var customPaddingLeft = 0
  package var customPaddingRight = 0
  /// Whether an average divides by the elements outside the padding.
  package var countExcludePadding = false
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .value("type", \.type),
    .int("kernelDepth", \.kernelDepth),
    .int("kernelHeight", \.kernelHeight),
    .int("kernelWidth", \.kernelWidth),
    .int("strideDepth", \.strideDepth),
    .int("strideHeight", \.strideHeight),
    .int("strideWidth", \.strideWidth),
    .value("paddingType", \.paddingType),
    .int("customPaddingFront", \.customPaddingFront),
    .int("customPaddingBack", \.customPaddingBack),
    .int("customPaddingTop", \.customPaddingTop),
    .int("customPaddingBottom", \.customPaddingBottom),
    .int("customPaddingLeft", \.customPaddingLeft),
    .int("customPaddingRight", \.customPaddingRight),
    .bool("countExcludePadding", \.countExcludePadding),
  ]

  /// The window along D, H and W for an input of these sizes.
  package func windows(_ size: [Int]) throws -> [AxisWindow] {
    let kernels = [kernelDepth, kernelHeight, kernelWidth]
    let strides = [strideDepth, strideHeight, strideWidth].map { $0 == 0 ? 1 : $0 }
    let custom = [
      (customPaddingFront, customPaddingBack), (customPaddingTop, customPaddingBottom),
      (customPaddingLeft, customPaddingRight),
    ]
    return try (0..<3).map { axis in
      let padding = paddingType == .custom ? custom[axis] : (0, 0)
      try require(
        max(padding.0, padding.1) < max(1, kernels[axis]),
        "\(padding) around windows of \(kernels[axis])", field: "customPadding")
      return try AxisWindow(
        kernel: kernels[axis], stride: strides[axis], dilation: 1, padding: padding,
        isSame: paddingType == .same, size: size[axis])
    }
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.count == 5, "an input of shape \(shape), [B, C, D, H, W] is needed", field: "input")
    return [
      try ArrayShape.checked(shape[..<2] + (try windows(Array(shape[2...])).map(\.output)))
    ]
  }

  package func check(_ faults: inout Faults) {
    faults.require(
      min(kernelDepth, kernelHeight, kernelWidth) > 0, "kernelDepth",
      "windows of \(kernelDepth) × \(kernelHeight) × \(kernelWidth)")
  }
}

/// Maximum or average over D, H and W of `[B, C, D, H, W]`, which become 1.
package struct GlobalPooling3D: ArrayLayer {
  package typealias PoolingType = Pooling3D.PoolingType

  package static let typeName = "globalPooling3d"
  package static let specificationVersion = 5
  package static let minimumRank = 5

  package var type = PoolingType.max
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [.value("type", \.type)]

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try arrayInput(inputs)
    try require(
      shape.count == 5, "an input of shape \(shape), [B, C, D, H, W] is needed", field: "input")
    return [try ArrayShape.checked(shape[..<2] + [1, 1, 1])]
  }
}
