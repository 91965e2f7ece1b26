import CoreMLModel
import ImportSupport
import TensorCore

extension KerasWriter {
  /// The maximum number of elements in the matrices of a resize.
  private static let matrixLimit = 1 << 26

  /// Resizes an image with one matrix along the height and one along the width.
  mutating func resampled(
    _ image: KerasTensor, to sizes: [Int], _ interpolation: KerasInterpolation,
    isSmoothed: Bool = false, _ call: LayerCall
  ) throws -> KerasTensor {
    var result = image
    let layout = image.layout
    for (place, size) in zip([BlobAxis.height, .width], sizes) {
      guard let index = image.index(of: place), let length = image.shape[index],
        !image.isShapeAssumed
      else { throw call.unknownSize(of: image) }
      if length == size { continue }
      var matrix: [Float] = []
      matrix.reserveCapacity(try computedCount([length, size], limit: Self.matrixLimit))
      for row in interpolation.matrix(from: length, to: size, isSmoothed: isSmoothed) {
        matrix += row.map(Float.init)
      }
      result = withChannelAxis(index, of: [result], for: call.name) { network, tensors in
        var tensor = tensors[0]
        tensor.blob = network.add(
          "\(call.name)__\(place == .height ? "rows" : "columns")__",
          Convolution.pointwise(Weights(matrix), inputs: length, outputs: size), [tensor.blob])
        tensor.shape[index] = size
        return tensor
      }
    }
    return relaid(result, to: layout, for: call.name)
  }

  /// Crops rows and columns of an image.
  mutating func cropped(
    _ image: KerasTensor, top: Int, left: Int, to sizes: [Int], _ name: String
  ) -> KerasTensor {
    let indices = [BlobAxis.height, .width].compactMap { image.index(of: $0) }
    let lengths = indices.compactMap { image.shape[$0] }
    guard indices.count == 2, lengths.count == 2, lengths != sizes else { return image }
    let crop = Crop(
      BorderAmounts(
        top: top, bottom: lengths[0] - top - sizes[0], left: left,
        right: lengths[1] - left - sizes[1]))
    var result = image
    for (index, size) in zip(indices, sizes) { result.shape[index] = size }
    result.blob = add(name, crop, [image.blob])
    return result
  }
}

extension LayerCall {
  /// The height and width of an image.
  func sizes(_ image: KerasTensor) throws -> [Int] {
    let sizes = [BlobAxis.height, .width].compactMap { place in
      image.index(of: place).flatMap { image.shape[$0] }
    }
    guard sizes.count == 2, !image.isShapeAssumed else { throw unknownSize(of: image) }
    return sizes
  }

  /// The largest centered part of an image with the aspect ratio of `target`, as in `smart_resize`:
  /// its sizes, first row and first column.
  func centralPart(
    _ sizes: [Int], like target: [Int]
  ) throws -> (sizes: [Int], top: Int, left: Int) {
    let height = min(
      sizes[0], Int(Float(sizes[1] * target[0]) / Float(target[1])))
    let width = min(sizes[1], Int(Float(sizes[0] * target[1]) / Float(target[0])))
    try require(
      height > 0 && width > 0,
      "an image of \(sizes[0]) × \(sizes[1]) has no part with the aspect ratio "
        + "\(target[0]) × \(target[1])")
    return ([height, width], Int(Float(sizes[0] - height) / 2), Int(Float(sizes[1] - width) / 2))
  }
}

/// Resizes an image.
enum Resizing: KerasLayer {
  static let classes = [SourceLayer](
    "Resizing", becomes: "two 1 × 1 convolutions, one along each axis",
    options:
      "`interpolation` as UpSampling2D, `crop_to_aspect_ratio`, `pad_to_aspect_ratio`, `antialias`",
    refused: "unknown sizes")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let size = [try configuration.int("height"), try configuration.int("width")]
    let interpolation = try configuration.interpolation(default: "bilinear")
    let crops = try configuration.bool("crop_to_aspect_ratio", default: false)
    let pads = try configuration.bool("pad_to_aspect_ratio", default: false)
    let fill = try configuration.double("fill_value", default: 0)
    let format = try configuration.dataFormat ?? .channelsLast
    let isSmoothed = try configuration.bool("antialias", default: false)
    let mode = try configuration.string("fill_mode", default: "constant")
    try configuration.require(
      !pads || mode == "constant", "fill_mode", unsupported: "'\(mode)' is not supported")
    return conversion { call, network in
      var image = try network.image(call.input, format, call)
      let sizes = try call.sizes(image)
      if crops {
        let part = try call.centralPart(sizes, like: size)
        image = network.cropped(
          image, top: part.top, left: part.left, to: part.sizes, call.name + "__crop__")
      } else if pads {
        let height = max(sizes[0], Int(Float(sizes[1] * size[0]) / Float(size[1])))
        let width = max(sizes[1], Int(Float(sizes[0] * size[1]) / Float(size[0])))
        // As in Keras, both borders are equal, so an odd difference loses one row or column.
        let (top, left) = ((height - sizes[0]) / 2, (width - sizes[1]) / 2)
        let padding = Padding(
          .constant(value: Float(fill)),
          BorderAmounts(top: top, bottom: top, left: left, right: left))
        image.blob = network.add(call.name + "__pad__", padding, [image.blob])
        for (place, border) in [(BlobAxis.height, top), (.width, left)] {
          if let index = image.index(of: place) { image.shape[index]? += 2 * border }
        }
      }
      return [try network.resampled(image, to: size, interpolation, isSmoothed: isSmoothed, call)]
    }
  }
}

extension LayerConfiguration {
  func interpolation(default standard: String) throws -> KerasInterpolation {
    let name = try string("interpolation", default: standard).lowercased()
    let interpolation = try KerasInterpolation(rawValue: name).orThrow(
      unsupported("interpolation", "'\(name)' is not supported"))
    return interpolation
  }
}

/// Crops an image to its center; smaller images are enlarged.
enum CenterCrop: KerasLayer {
  static let classes = [SourceLayer](
    "CenterCrop", "RandomCrop", becomes: "crop; a resize if the image is too small",
    options: "RandomCrop: the center, scaled")

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let size = [try configuration.int("height"), try configuration.int("width")]
    let format = try configuration.dataFormat ?? .channelsLast
    // At inference, TensorFlow 2's layer returns the resized center; Keras 3's returns its input.
    let isRandom = configuration.className.contains("RandomCrop")
    return conversion { call, network in
      if isRandom, call.version.isAtLeast(3, 0) { return [try call.input] }
      var image = try network.image(call.input, format, call)
      let sizes = try call.sizes(image)
      if !isRandom, sizes[0] >= size[0], sizes[1] >= size[1] {
        return [
          network.cropped(
            image, top: (sizes[0] - size[0]) / 2, left: (sizes[1] - size[1]) / 2, to: size,
            call.name)
        ]
      }
      let part = try call.centralPart(sizes, like: size)
      image = network.cropped(
        image, top: part.top, left: part.left, to: part.sizes, call.name + "__crop__")
      return [try network.resampled(image, to: size, .bilinear, call)]
    }
  }
}
