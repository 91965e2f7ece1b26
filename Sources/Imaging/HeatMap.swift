import TensorCore

/// An array of one to three channels as an image.
///
/// Each value v becomes (v − minimum) / (maximum − minimum), with the range of all finite values of
/// all channels. One channel is shown in `ColorMap.viridis`, two in red and green, three in red,
/// green and blue. If all values are equal, they are shown as 0.
package struct HeatMap: Sendable {
  package let image: Image
  /// The smallest and largest value; nil if none is finite.
  package let range: ClosedRange<Float>?

  /// - Parameters:
  ///   - tensor: `[H, W]`, `[C, H, W]` or `[H, W, C]`, with leading axes of length 1.
  ///   - axis: the position of the channels; nil to derive it from the shape, preferring the first
  ///     axis.
  /// - Throws: `.mismatch` for other shapes, `.limitExceeded` for images that are too large.
  package init(_ tensor: Tensor, channels axis: ChannelAxis? = nil) throws {
    guard let planes = Self.planes(tensor, axis) else {
      throw ModelError(
        .mismatch, "an array of shape \(tensor.shape) is not an image of one to three channels",
        hint: "write .npy or .npz")
    }
    let (channels, height, width) = (planes.shape[0], planes.shape[1], planes.shape[2])
    let buffer = try SampleBuffer(width: width, height: height, channelCount: 3)
    let target = buffer.bytes
    var found: ClosedRange<Float>?
    planes.withUnsafeElements { source in
      for value in source where value.isFinite {
        found = found.map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
      }
      let least = Double(found?.lowerBound ?? 0)
      let extent = Double(found?.upperBound ?? 0) - least
      func part(_ value: Float) -> Double {
        value.isNaN ? .nan : extent > 0 ? (Double(value) - least) / extent : 0
      }
      let plane = width * height
      for pixel in 0..<plane {
        if channels == 1 {
          let color = ColorMap.viridis(part(source[pixel]))
          target[3 &* pixel] = color.red
          target[3 &* pixel &+ 1] = color.green
          target[3 &* pixel &+ 2] = color.blue
        } else {
          for channel in 0..<3 {
            let value = channel < channels ? part(source[channel &* plane &+ pixel]) : 0
            target[3 &* pixel &+ channel] = UInt8(rounding: Float(value * 255))
          }
        }
      }
    }
    range = found
    image = Image(width: width, height: height, channelCount: 3, samples: buffer.finished)
  }

  /// The tensor as `[C, H, W]`; nil for other shapes.
  private static func planes(_ tensor: Tensor, _ axis: ChannelAxis?) -> Tensor? {
    var shape = tensor.shape
    while shape.count > 3, shape[0] == 1 { shape.removeFirst() }
    if shape.count == 2 { shape.insert(1, at: 0) }
    guard shape.count == 3, shape.allSatisfy({ $0 > 0 }) else { return nil }
    let tensor = tensor.reshaped(shape)
    if shape[0] <= 3, axis != .last { return tensor }
    return shape[2] <= 3 && axis != .first ? tensor.transposed([2, 0, 1]) : nil
  }
}
