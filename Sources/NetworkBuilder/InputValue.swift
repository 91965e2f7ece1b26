import CoreMLModel
import Imaging
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
  func blob(_ value: InputValue, crop: Resize.Crop?) throws -> Tensor {
    do {
      switch (kind, value) {
      case (.array(let shape), .floats(let floats)):
        return try planes(floats, shape)
      case (.array(let shape), .picture(let picture)):
        let found = TensorShape(
          height: picture.height, width: picture.width, channels: shape.channels)
        guard found == shape, shape.channels == 1 || shape.channels == 3 else {
          throw ModelError(
            .mismatch,
            "a picture of \(picture.height) × \(picture.width) × \(picture.channelCount), where "
              + "\(shape) is needed", hint: "a Resize behind the input takes pictures of any size")
        }
        let tensor = try picture.tensor(shape.channels == 1 ? .grayscale : .rgb)
        return tensor.reshaped([1, 1] + tensor.shape)
      case (.picture(let resize, _, _), .floats(let floats)):
        return try planes(floats, resize.shape, isReversed: resize.colors == .bgr)
      case (.picture(let resize, let declared, let layer), .picture(let picture)):
        guard declared.height ?? picture.height == picture.height,
          declared.width ?? picture.width == picture.width
        else {
          throw ModelError(
            .mismatch,
            "a picture of \(picture.height) × \(picture.width) × \(picture.channelCount), where "
              + "\(declared) is needed")
        }
        do {
          let tensor = try resize.resized(picture, crop ?? .whole).tensor(resize.order)
          return tensor.reshaped([1, 1] + tensor.shape)
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
  private func planes(
    _ floats: [Float], _ shape: TensorShape, isReversed: Bool = false
  ) throws -> Tensor {
    guard let sizes = shape.sizes, let count = shape.count, floats.count == count else {
      throw ModelError(
        .mismatch,
        "\(floats.count) values, where \(shape) = \(shape.count.map(String.init) ?? "?") are needed"
      )
    }
    let (area, channels) = (sizes[0] * sizes[1], sizes[2])
    return try Tensor(checkedShape: [1, 1, channels, sizes[0], sizes[1]]) { target in
      for channel in 0..<channels {
        let from = isReversed ? channels - 1 - channel : channel
        for pixel in 0..<area {
          target[channel &* area &+ pixel] = floats[pixel &* channels &+ from]
        }
      }
    }
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
