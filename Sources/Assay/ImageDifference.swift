import ByteFormats
import Imaging
import ModelPrediction
import TensorCore
import Verification

/// Two images of the same size: `[height, width, channels]` of 0…255.
public struct ImageDifference: Sendable {
  /// The output's name.
  public let name: String
  private let actual: Tensor
  private let expected: Tensor

  /// Nil if the arrays are not two images of the same size.
  init?(_ name: String, actual: Tensor, expected: Tensor) {
    func shape(_ tensor: Tensor) -> [Int] { Array(tensor.shape.drop { $0 == 1 }) }
    let sizes = shape(expected)
    guard sizes == shape(actual), sizes.count == 3 || sizes.count == 2 else { return nil }
    let whole = sizes.count == 3 && [1, 3].contains(sizes[2]) ? sizes : sizes + [1]
    guard whole.count == 3 else { return nil }
    self.name = name
    self.actual = actual.reshaped(whole)
    self.expected = expected.reshaped(whole)
  }

  /// The predicted image.
  package func actualImage() throws -> Image { try Self.image(actual) }
  /// The expected image.
  package func expectedImage() throws -> Image { try Self.image(expected) }

  private static func image(_ values: Tensor) throws -> Image {
    try Image(values, values.shape[2] == 1 ? .grayscale : .rgb, channels: .last)
  }

  /// The absolute difference of each sample after rounding to 8 bits, scaled so that the largest
  /// becomes 255; and that largest difference.
  public func amplified() throws -> (image: Image, largest: Int) {
    let (a, b) = (actual.elements, expected.elements)
    let differences = zip(a, b).map { abs(Int(UInt8(rounding: $0)) - Int(UInt8(rounding: $1))) }
    let largest = differences.max() ?? 0
    let factor = largest == 0 ? 0 : 255 / Float(largest)
    let values = Tensor(shape: expected.shape, differences.map { Float($0) * factor })
    return (try Self.image(values), largest)
  }
}

extension PredictedOutput {
  /// Channels-first images as `[H, W, C]`; anything else unchanged.
  var channelsLast: Tensor {
    let shape = Array(value.shape.drop { $0 == 1 })
    guard case .array = kind, channels == .first, shape.count == 3 else { return value }
    return value.reshaped(shape).transposed([1, 2, 0])
  }
}

extension Tensor {
  /// The samples as stored in an image file: rounded and clipped to 0…255.
  var asSamples: Tensor {
    Tensor(shape: shape, elements.map { $0.isFinite ? Float(UInt8(rounding: $0)) : $0 })
  }

  /// `[H, W, 1]` as `[H, W, 3]` if `other` is in color; otherwise unchanged.
  func colored(like other: Tensor) -> Tensor {
    guard shape.count == 3, shape[2] == 1, other.shape.last == 3 else { return self }
    return Tensor(shape: [shape[0], shape[1], 3], elements.flatMap { [$0, $0, $0] })
  }
}
