import CoreMLModel
import TensorCore

extension Model {
  /// The model with the feature `name` changed to an image with the given color space. If none is
  /// given, the color space is kept, or chosen by the number of channels (gray or RGB). An array
  /// becomes an image of its height and width.
  ///
  /// - Parameter shape: the blob's shape, for an output without a declared shape.
  /// - Throws: `.mismatch` if there is no such feature, or its sizes are not those of an image.
  package func settingImage(
    _ name: String, colorSpace: ImageFeatureType.ColorSpace? = nil, shape: [Int]? = nil
  ) throws -> Model {
    try editingFeature(name) { position in
      switch position.feature.type?.kind {
      case .image(var image)?:
        guard let colorSpace else { return }
        try require(
          colorSpace.channelCount == image.colorSpace.channelCount, .mismatch,
          "has \(image.colorSpace.channelCount) channels, but the color space has "
            + "\(colorSpace.channelCount)")
        image.colorSpace = colorSpace
        position.feature.setKind(.image(image))
      case .multiArray(let array)?:
        position.feature.setKind(.image(try Self.image(array, colorSpace, shape: shape)))
        if position.isInput, array.shape.count == 4 || array.shape.count == 5 {
          try position.takeImages(ofRank: array.shape.count)
        } else if position.isInput, position.network?.arrayInputShapeMapping == .exact {
          throw ModelError(
            .mismatch,
            "the network takes an array of rank \(array.shape.count), but an image needs 4 or 5"
          )
        }
      default: throw ModelError(.mismatch, "is neither an array nor an image")
      }
    }
  }

  private static func image(
    _ array: ArrayFeatureType, _ colorSpace: ImageFeatureType.ColorSpace?, shape: [Int]?
  ) throws -> ImageFeatureType {
    let sizes = array.shape.isEmpty ? shape ?? [] : array.shape
    let item = Array(sizes.suffix(3))
    try require(
      item.count == 3 && sizes.dropLast(3).allSatisfy({ $0 == 1 }) && [1, 3].contains(item[0]),
      .mismatch, "cannot be an image: its shape is \(sizes)",
      hint: "an image has 1 or 3 channels, a height and a width")
    let color = colorSpace ?? (item[0] == 1 ? .grayscale : .rgb)
    try require(
      color.channelCount == item[0], .mismatch,
      "has \(item[0]) channels, but the color space has \(color.channelCount)")
    var image = ImageFeatureType(width: item[2], height: item[1], colorSpace: color)
    switch array.flexibility {
    case .enumerated(let shapes)?:
      image.flexibility = .enumerated(
        shapes.filter { $0.count >= 2 }.map { ImageSize($0[$0.count - 1], $0[$0.count - 2]) })
    case .range(let ranges)? where ranges.count >= 2:
      image.flexibility = .range(width: ranges[ranges.count - 1], height: ranges[ranges.count - 2])
    default: break
    }
    return image
  }
}

extension FeaturePath {
  /// Sets how the network receives images: with or without a sequence axis.
  fileprivate mutating func takeImages(ofRank rank: Int) throws {
    guard var network else { return }
    let mapping: NeuralNetwork.ImageInputShapeMapping = rank == 4 ? .rank4 : .rank5
    guard network.imageInputShapeMapping != mapping else { return }
    try require(
      network.preprocessing.isEmpty, .mismatch, "the network's other images have another rank")
    network.imageInputShapeMapping = mapping
    self.network = network
  }
}
