import CoreMLModel
import Imaging
import ModelPrediction
import TensorCore

/// The value of an input.
public enum InputValue: Sendable {
  /// An image with samples 0 to 255: of any size if a ``Resize`` follows the input, otherwise of
  /// the input's size.
  case image(Image)
  /// Numbers `[height, width, channels]`; if a ``Resize`` follows the input, they have its size
  /// and are RGB or gray.
  case floats([Float])
}

/// A feature of the document and the input that provides its values.
struct BoundInput: Sendable {
  enum Kind: Sendable {
    case array(TensorShape)
    /// A resized image, the declared sizes of the input, and the layer's name.
    case image(ResizeDefinition, TensorShape, String)
  }

  /// The input's name.
  let name: String
  let feature: String
  let kind: Kind

  /// The part of an image that the network currently receives.
  var crop: Resize.Crop? {
    if case .image(let resize, _, _) = kind { resize.crop.value } else { nil }
  }

  /// `[1, 1, C, H, W]`.
  func blob(_ value: InputValue, crop: Resize.Crop?, _ interface: ModelInterface) throws -> Tensor {
    do {
      switch (kind, value) {
      case (.array(let shape), .floats(let floats)):
        return try blob(floats, shape, interface)
      case (.array(let shape), .image(let image)):
        let found = TensorShape(
          height: image.height, width: image.width, channels: shape.channels)
        try require(
          found == shape && (shape.channels == 1 || shape.channels == 3), .mismatch,
          "an image of \(image.height) × \(image.width) × \(image.channelCount); "
            + "\(shape) is needed",
          hint: "add a Resize after the input to accept images of any size")
        let tensor = try image.tensor(shape.channels == 1 ? .grayscale : .rgb)
        return tensor.reshaped([1, 1] + tensor.shape)
      case (.image(let resize, _, _), .floats(let floats)):
        return try blob(floats, resize.shape, interface)
      case (.image(let resize, let declared, let layer), .image(let image)):
        try require(
          (declared.height ?? image.height == image.height)
            && (declared.width ?? image.width == image.width), .mismatch,
          "an image of \(image.height) × \(image.width) × \(image.channelCount); "
            + "\(declared) is needed")
        do {
          return try resize.blob(image, crop ?? .whole)
        } catch let error as ModelError {
          throw error.inLayer(layer, class: ResizeDefinition.typeName)
        }
      }
    } catch var error as ModelError {
      if error.layer == nil, error.field == nil { error.field = "input '\(name)'" }
      throw error
    }
  }

  /// Converts `[H, W, C]` to `[1, 1, C, H, W]`.
  private func blob(
    _ floats: [Float], _ shape: TensorShape, _ interface: ModelInterface
  ) throws -> Tensor {
    guard let sizes = shape.sizes, let count = shape.count, floats.count == count else {
      throw ModelError(
        .mismatch,
        "\(floats.count) values; \(shape) = \(shape.count.map(String.init) ?? "?") are needed"
      )
    }
    let isVector = if case .array = kind { shape.isVector } else { false }
    let array = Tensor(shape: isVector ? [sizes[2]] : sizes, floats)
    return try (interface.features[feature]?.blob(.array(array))).orThrow(
      ModelError(.internal, "the document lacks the input"))
  }
}

extension ResizeDefinition {
  var order: ChannelOrder {
    switch colors {
    case .rgb: .rgb
    case .bgr: .bgr
    case .grayscale: .grayscale
    }
  }
}
