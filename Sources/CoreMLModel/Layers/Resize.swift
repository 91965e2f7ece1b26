import TensorCore

/// Enlarges H and W by whole (or, since specification 5, fractional) factors.
package struct Upsample: LayerParameters {
  package enum InterpolationMode: Int, Sendable, CaseIterable {
    case nearest = 0
    case bilinear = 1
  }

  package enum LinearUpsampleMode: Int, Sendable, CaseIterable {
    case `default` = 0
    case alignCornersTrue = 1
    case alignCornersFalse = 2
  }

  package var scalingFactor: [Int] = []
  package var fractionalScalingFactor: [Float] = []
  package var mode = InterpolationMode.nearest
  package var linearUpsampleMode = LinearUpsampleMode.default

  package init() {}

  package static let fields: Fields = [
    .ints("scalingFactor", \.scalingFactor),
    .floats("fractionalScalingFactor", \.fractionalScalingFactor),
    .value("mode", \.mode),
    .value("linearUpsampleMode", \.linearUpsampleMode),
  ]

  package var requiredSpecificationVersion: Int {
    fractionalScalingFactor.isEmpty && linearUpsampleMode == .default ? 1 : 5
  }

  /// The factors `[h, w]`, whole or fractional.
  package func effectiveFactors() throws -> [Float] {
    if fractionalScalingFactor.isEmpty {
      return try sizePair(scalingFactor, 1, "scalingFactor").map { Float($0) }
    }
    try require(
      fractionalScalingFactor.count == 2
        && fractionalScalingFactor.allSatisfy({ $0 > 0 && $0 <= Float(1 << 24) }),
      "\(fractionalScalingFactor) is invalid; two positive factors are needed",
      field: "fractionalScalingFactor")
    return fractionalScalingFactor
  }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    let factors = try effectiveFactors()
    func scaled(_ size: Int, _ factor: Float) throws -> Int {
      let result = (Double(size) * Double(factor)).rounded(.down)
      try require(
        result <= Double(Limits.dimension), .limitExceeded, "\(size) × \(factor) is too large")
      return Int(result)
    }
    let height = try scaled(shape.height, factors[0])
    return [try shape.resized(height, scaled(shape.width, factors[1])).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try effectiveFactors() }
    faults.require(
      scalingFactor.isEmpty || fractionalScalingFactor.isEmpty, "fractionalScalingFactor",
      "\(fractionalScalingFactor) together with scalingFactor \(scalingFactor)")
    faults.require(
      mode == .bilinear || linearUpsampleMode == .default, "linearUpsampleMode",
      "\(linearUpsampleMode) for the nearest neighbor")
    faults.require(
      fractionalScalingFactor.isEmpty || linearUpsampleMode != .default, "linearUpsampleMode",
      "fractional factors need a mode that aligns the corners")
  }
}

/// How a resampling grid is aligned.
package enum SamplingMethod: Int, Sendable, CaseIterable {
  case strictAlignEndpoints = 0
  case alignEndpoints = 1
  case upsample = 2
  case roiAlign = 3
}

/// Bilinear resize to a given size.
package struct ResizeBilinear: LayerParameters {
  package static let specificationVersion = 3

  /// `[H, W]`
  package var targetSize: [Int] = []
  package var mode: SamplingMethod?

  package init() {}

  package static let fields: Fields = [
    .ints("targetSize", \.targetSize),
    .value("mode", in: "samplingMethod", \.mode),
  ]

  package var effectiveMode: SamplingMethod { mode ?? .strictAlignEndpoints }

  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    let shape = try input(inputs)
    let size = try sizePair(targetSize, 1, "targetSize")
    return [try shape.resized(size[0], size[1]).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try sizePair(targetSize, 1, "targetSize") }
  }
}

/// Cuts boxes out of an image and resizes each: inputs are the image and the boxes.
package struct CropResize: LayerParameters {
  package enum BoxCoordinates: Int, Sendable, CaseIterable {
    case cornersHeightFirst = 0
    case cornersWidthFirst = 1
    case centerSizeHeightFirst = 2
    case centerSizeWidthFirst = 3
  }

  package static let specificationVersion = 3
  package static let inputCount = 2...2

  package var targetSize: [Int] = []
  package var normalizedCoordinates = false
  package var mode: SamplingMethod?
  package var boxIndicesMode: BoxCoordinates?
  package var spatialScale: Float = 0

  package init() {}

  package static let fields: Fields = [
    .ints("targetSize", \.targetSize),
    .bool("normalizedCoordinates", \.normalizedCoordinates),
    .value("mode", in: "samplingMethod", \.mode),
    .value("boxIndicesMode", in: "boxMode", \.boxIndicesMode),
    .float("spatialScale", \.spatialScale),
  ]

  package var effectiveMode: SamplingMethod { mode ?? .strictAlignEndpoints }
  package var effectiveBoxMode: BoxCoordinates { boxIndicesMode ?? .cornersHeightFirst }
  package var effectiveSpatialScale: Float { spatialScale == 0 ? 1 : spatialScale }

  /// `[boxes, Batch, C, h, w]`, or `[boxes, 1, C, h, w]` if the boxes include a batch index.
  package func outputShapes(_ inputs: [[Int]]) throws -> [[Int]] {
    var shape = try input(inputs)
    let boxes = try BlobShape(inputs[1])
    try require(
      shape.sequence == 1 && boxes.batch == 1 && [4, 5].contains(boxes.itemCount),
      "image and boxes have the shapes \(inputs); [1, B, C, H, W] and [N, 1, 4 or 5, 1, 1] "
        + "are needed", field: "input")
    let size = try sizePair(targetSize, 1, "targetSize")
    shape.sequence = boxes.sequence
    if try boxes.itemCount == 5 { shape.batch = 1 }
    return [try shape.resized(size[0], size[1]).checked]
  }

  package func check(_ faults: inout ValidationIssues) {
    faults.catching { _ = try sizePair(targetSize, 1, "targetSize") }
  }
}
