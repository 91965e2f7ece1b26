import Imaging
import Synchronization
import TensorCore

/// Resizes an image of any size, or a part of it, to the network's size.
///
/// It follows an ``Input``. The written model takes images of the resized size; here they may have
/// any size. An image's samples are 0 to 255 and reach the network as `scale · sample + bias`.
public final class Resize: Layer, @unchecked Sendable {
  /// The part of an image that the network receives.
  public enum Crop: Sendable, Equatable {
    /// The whole image, with each axis resized independently.
    case whole
    /// The largest centered part with the network's aspect ratio.
    case center
    /// A rectangle in pixels from the upper left corner; its edges may be between pixels.
    case rectangle(x: Double, y: Double, width: Double, height: Double)
  }

  /// The order of an image's colors in the network.
  public enum Colors: Sendable, CaseIterable {
    /// Red, green, blue.
    case rgb
    /// Blue, green, red.
    case bgr
    /// One channel.
    case grayscale

    /// 1 or 3.
    public var channelCount: Int { self == .grayscale ? 1 : 3 }
  }

  /// The part of subsequent images that the network receives; this also applies to compiled
  /// networks. The part is fixed when an image is passed in, so the crop may change while the image
  /// waits.
  public var crop: Crop {
    get { holder.value }
    set { holder.value = newValue }
  }

  private let holder: CropHolder

  /// - Parameters:
  ///   - width: width of the image in the network.
  ///   - height: height of the image in the network.
  ///   - scale: factor for the samples.
  ///   - bias: added afterward: one number, or one each for red, green and blue.
  ///   - interpolation: how images are resized: with Pillow's filter of that name, or as in
  ///     TensorFlow or OpenCV. For a rectangle, samples are always rounded to integers.
  public init(
    width: Int, height: Int, colors: Colors = .rgb, crop: Crop = .whole, scale: Float = 1,
    bias: [Float] = [0], interpolation: Interpolation = .bilinear, name: String? = nil
  ) {
    let holder = CropHolder(crop)
    self.holder = holder
    super.init(
      name,
      ResizeDefinition(
        width: width, height: height, colors: colors, crop: holder, scale: scale, bias: bias,
        interpolation: interpolation))
  }
}

/// A crop that may be changed while images are being resized.
final class CropHolder: Sendable {
  private let crop: Mutex<Resize.Crop>

  init(_ crop: Resize.Crop) { self.crop = Mutex(crop) }

  var value: Resize.Crop {
    get { crop.withLock { $0 } }
    set { crop.withLock { $0 = newValue } }
  }
}

struct ResizeDefinition: LayerDefinition {
  static let typeName = "Resize"

  var width: Int
  var height: Int
  var colors: Resize.Colors
  var crop: CropHolder
  var scale: Float
  var bias: [Float]
  var interpolation: Interpolation

  var shape: TensorShape {
    TensorShape(height: height, width: width, channels: colors.channelCount)
  }

  /// Only inputs can be resized, and the document has no layer for that.
  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    throw ModelError(
      .unsupported,
      "comes after '\(inputs.first?.blob ?? "")', which is not an image",
      hint: "put a Resize directly after an Input")
  }

  func check() throws {
    for (side, field) in [(width, "width"), (height, "height")] {
      try require(
        (1...Limits.imageSide).contains(side), .mismatch,
        "\(side) is out of range; 1 to \(Limits.imageSide) are supported", field: field
      )
    }
    try require(
      bias.count == 1 || bias.count == colors.channelCount, .mismatch,
      "\(bias.count) numbers; 1 or \(colors.channelCount) are needed", field: "bias")
  }

  /// `[1, 1, C, height, width]` for the image, which is converted to the network's colors first
  /// and then resized.
  func blob(_ image: Image, _ crop: Resize.Crop) throws -> Tensor {
    let tensor: Tensor
    switch crop {
    case .whole, .center:
      var options = ImageOptions()
      options.fitting = crop == .whole ? .squash : .centerCrop
      options.interpolation = interpolation
      tensor = try image.prepared(width: width, height: height, order, options)
    case .rectangle(let x, let y, let across, let down):
      try require(
        x >= 0 && y >= 0 && across > 0 && down > 0 && x + across <= Double(image.width)
          && y + down <= Double(image.height), .mismatch,
        "the rectangle of \(across) × \(down) at (\(x), \(y)) is outside the image of "
          + "\(image.width) × \(image.height)", field: "crop")
      let colored = order == .grayscale ? try image.grayscale() : try image.rgb()
      tensor = try colored.resized(
        width: width, height: height, interpolation,
        of: Box(left: x, top: y, right: x + across, bottom: y + down)
      ).tensor(order)
    }
    return tensor.reshaped([1, 1, colors.channelCount, height, width])
  }
}
