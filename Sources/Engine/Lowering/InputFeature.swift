import CoreMLModel
import TensorCore

/// The shape of an input feature inside the network.
struct InputFeature {
  let name: String
  let kind: NetworkFeature.Kind
  let shape: Shape

  /// - Parameter override: the shape to use instead of the declared one. With five axes, sequence
  ///   and batch are free; the feature must allow C, H and W, and all axes of exact shapes.
  init(_ feature: FeatureDescription, override: [Int]?, _ network: NeuralNetwork) throws {
    name = feature.name
    do {
      switch feature.type?.kind {
      case .image(let image):
        kind = .image(image.colorSpace)
        shape = try Self.shape(of: image, override, network.imageInputShapeMapping)
      case .multiArray(let array):
        kind = .array
        shape = try Self.shape(of: array, override, network.arrayInputShapeMapping)
      case .int64, .double:
        kind = .array
        shape = try Shape(override ?? [1, 1, 1, 1, 1])
      default:
        throw ModelError(.unsupported, "networks do not accept features of this type")
      }
    } catch var error as ModelError {
      error.field = error.field ?? "input '\(feature.name)'"
      throw error
    }
  }

  private static func shape(
    of image: ImageFeatureType, _ override: [Int]?,
    _ mapping: NeuralNetwork.ImageInputShapeMapping
  ) throws -> Shape {
    let channels = image.colorSpace.channelCount
    guard channels > 0 else { throw ModelError(.malformed, "the image's color space is not set") }
    let item = [1, channels, image.height, image.width]
    let declared = mapping == .rank4 ? item : [1] + item
    guard let override else { return try Shape(declared) }
    let wanted = try Shape(override)
    try require(
      wanted.rank == declared.count, .mismatch,
      "shape \(override), but the model takes \(declared)")
    var isAllowed = wanted.height == image.height && wanted.width == image.width
    switch image.flexibility {
    case .enumerated(let sizes):
      isAllowed =
        isAllowed || sizes.contains { $0.height == wanted.height && $0.width == wanted.width }
    case .range(let width, let height):
      isAllowed =
        isAllowed
        || ((height?.contains(wanted.height) ?? (wanted.height == image.height))
          && (width?.contains(wanted.width) ?? (wanted.width == image.width)))
    case nil: break
    }
    try require(
      wanted.channels == channels && isAllowed, .mismatch,
      "an image of \(wanted.width)×\(wanted.height) with \(wanted.channels) channels is not one "
        + "that the model takes (\(image.width)×\(image.height), \(channels) channels)")
    return wanted
  }

  private static func shape(
    of array: ArrayFeatureType, _ override: [Int]?,
    _ mapping: NeuralNetwork.ArrayInputShapeMapping
  ) throws -> Shape {
    let declared = array.shape
    guard mapping == .rank5 else {
      guard let override, override != declared else { return try Shape(declared) }
      try require(
        array.allows(exact: override), .mismatch,
        "the model does not accept shape \(override) (\(declared))")
      return try Shape(override)
    }
    if declared.isEmpty, let override { return try Shape(override) }
    let item: [Int]
    switch declared.count {
    case 1: item = [declared[0], 1, 1]
    case 3: item = declared
    case 5: item = Array(declared[2...])
    default:
      throw ModelError(.malformed, "an array of shape \(declared); [C] or [C, H, W] is needed")
    }
    guard let override else { return try Shape(declared.count == 5 ? declared : [1, 1] + item) }
    let wanted = try Shape(override)
    let wantedItem = [wanted.channels, wanted.height, wanted.width]
    try require(
      wantedItem == item || array.allows(wantedItem), .mismatch,
      "the model does not accept shape \(override) (\(declared))")
    return wanted
  }

  /// The scaler or mean image of the feature.
  func preprocessing(
    _ network: NeuralNetwork, in description: ModelDescription
  ) throws -> Preprocessing? {
    let firstImage = description.input.first {
      if case .image = $0.type?.kind { true } else { false }
    }?.name
    let own = network.preprocessing.filter {
      ($0.featureName.isEmpty ? firstImage : $0.featureName) == name
    }
    guard let preprocessor = own.first?.preprocessor else { return nil }
    guard case .image(let space) = kind else {
      throw ModelError(.malformed, "the input '\(name)' is not an image", field: "preprocessing")
    }
    switch preprocessor {
    case .scaler(let scaler):
      let bias = scaler.biases(space)
      if scaler.channelScale == 1, bias.allSatisfy({ $0 == 0 }) { return nil }
      return Preprocessing(scale: scaler.channelScale, bias: bias, mean: [])
    case .meanImage(let mean):
      try require(
        mean.meanImage.count == shape.itemCount,
        "the mean image has \(mean.meanImage.count) values, the image \(shape.itemCount)",
        field: "preprocessing")
      let bias = [Float](repeating: 0, count: shape.channels)
      return Preprocessing(scale: 1, bias: bias, mean: mean.meanImage)
    }
  }
}

extension ArrayFeatureType {
  /// Whether the flexibility allows exactly this shape.
  fileprivate func allows(exact shape: [Int]) -> Bool {
    switch flexibility {
    case .enumerated(let shapes): shapes.contains(shape)
    case .range(let ranges):
      ranges.count == shape.count && zip(ranges, shape).allSatisfy { $0.contains($1) }
    case nil: false
    }
  }

  /// Whether the flexibility allows C, H and W.
  fileprivate func allows(_ item: [Int]) -> Bool {
    switch flexibility {
    case .enumerated(let shapes):
      shapes.contains { $0 == item || ($0.count == 1 && item == [$0[0], 1, 1]) }
    case .range(let ranges):
      switch ranges.count {
      case 1: ranges[0].contains(item[0]) && item[1] == 1 && item[2] == 1
      case 3, 5: zip(ranges.suffix(3), item).allSatisfy { $0.contains($1) }
      default: false
      }
    case nil: false
    }
  }
}
