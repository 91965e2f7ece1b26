import CoreMLModel
import Imaging
import ModelPrediction
import TensorCore

/// What is given for an input.
public enum InputValue: Sendable {
  /// A picture: behind a ``Resize`` of any size, otherwise of the input's, with samples 0 to 255.
  case picture(Image)
  /// Numbers `[height, width, channels]`, behind a ``Resize`` of its size, in RGB or grey.
  case floats([Float])
}

/// A feature of the document and the input from which its values come.
struct BoundInput: Sendable {
  enum Kind: Sendable {
    case array(TensorShape)
    /// A resized picture, the sizes that the input was declared with, and the layer's name.
    case picture(ResizeDefinition, TensorShape, String)
  }

  /// The input's name.
  let name: String
  let feature: String
  let kind: Kind

  /// The part of a picture that the network sees now.
  var crop: Resize.Crop? {
    if case .picture(let resize, _, _) = kind { resize.crop.value } else { nil }
  }

  /// `[1, 1, C, H, W]`.
  func blob(
    _ value: InputValue, crop: Resize.Crop?, _ interface: ModelInterface
  ) throws -> Tensor {
    do {
      switch (kind, value) {
      case (.array(let shape), .floats(let floats)):
        return try blob(floats, shape, interface)
      case (.array(let shape), .picture(let picture)):
        let found = TensorShape(
          height: picture.height, width: picture.width, channels: shape.channels)
        try require(
          found == shape && (shape.channels == 1 || shape.channels == 3), .mismatch,
          "a picture of \(picture.height) × \(picture.width) × \(picture.channelCount), where "
            + "\(shape) is needed", hint: "a Resize behind the input takes pictures of any size")
        let tensor = try picture.tensor(shape.channels == 1 ? .grayscale : .rgb)
        return tensor.reshaped([1, 1] + tensor.shape)
      case (.picture(let resize, _, _), .floats(let floats)):
        return try blob(floats, resize.shape, interface)
      case (.picture(let resize, let declared, let layer), .picture(let picture)):
        try require(
          (declared.height ?? picture.height == picture.height)
            && (declared.width ?? picture.width == picture.width), .mismatch,
          "a picture of \(picture.height) × \(picture.width) × \(picture.channelCount), where "
            + "\(declared) is needed")
        do {
          return try resize.blob(picture, crop ?? .whole)
        } catch let error as ModelError {
          throw error.inLayer(layer, class: ResizeDefinition.typeName)
        }
      }
    } catch var error as ModelError {
      if error.layer == nil, error.field == nil { error.field = "input '\(name)'" }
      throw error
    }
  }

  /// `[1, 1, C, H, W]` of `[H, W, C]`.
  private func blob(
    _ floats: [Float], _ shape: TensorShape, _ interface: ModelInterface
  ) throws -> Tensor {
    guard let sizes = shape.sizes, let count = shape.count, floats.count == count else {
      throw ModelError(
        .mismatch,
        "\(floats.count) values, where \(shape) = \(shape.count.map(String.init) ?? "?") are needed"
      )
    }
    let isVector = if case .array = kind { shape.isVector } else { false }
    let array = Tensor(shape: isVector ? [sizes[2]] : sizes, floats)
    guard let blob = try interface.features[feature]?.blob(.array(array)) else {
      throw ModelError(.internal, "the document lacks the input")
    }
    return blob
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
