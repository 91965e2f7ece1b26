import TensorCore
import TestSupport
import Testing

@testable import Imaging

@Suite struct ImageTensorTests {
  /// Two pixels: (1, 2, 3) and (4, 5, 6).
  private let image = Image(
    width: 2, height: 1, channelCount: 3, samples: Bytes([1, 2, 3, 4, 5, 6] as [UInt8]))

  @Test func ordersChannels() throws {
    #expect(try image.tensor(.rgb) == Tensor(shape: [3, 1, 2], [1, 4, 2, 5, 3, 6]))
    #expect(try image.tensor(.bgr) == Tensor(shape: [3, 1, 2], [3, 6, 2, 5, 1, 4]))
    #expect(
      try image.tensor(.rgb, channels: .last) == Tensor(shape: [1, 2, 3], [1, 2, 3, 4, 5, 6]))
    #expect(
      try image.tensor(.bgr, channels: .last) == Tensor(shape: [1, 2, 3], [3, 2, 1, 6, 5, 4]))
    // (19595 · 1 + 38470 · 2 + 7471 · 3 + 32768) / 65536 = 2.31, and 5.31.
    #expect(try image.tensor(.grayscale) == Tensor(shape: [1, 1, 2], [2, 5]))
    let grey = Image(width: 1, height: 2, channelCount: 1, samples: Bytes([7, 8] as [UInt8]))
    #expect(try grey.tensor(.bgr) == Tensor(shape: [3, 2, 1], [7, 8, 7, 8, 7, 8]))
  }

  @Test func comesBack() throws {
    for order in [ChannelOrder.rgb, .bgr] {
      for axis in [ChannelAxis.first, .last] {
        #expect(try Image(image.tensor(order, channels: axis), order, channels: axis) == image)
      }
    }
    let grey = try image.grayscale()
    #expect(try Image(grey.tensor(.grayscale), .grayscale) == grey)
    #expect(try Image(Tensor(shape: [1, 2], [2, 5]), .grayscale) == grey)
    #expect(try Image(image.tensor(.rgb).reshaped([1, 1, 3, 1, 2]), .rgb) == image)
  }

  @Test func cutsOffAndRounds() throws {
    let values: [Float] = [-3, 0.49, 0.5, 254.5, 300, .nan]
    let picture = try Image(Tensor(shape: [1, 2, 3], values), .grayscale)
    #expect(picture.bytes == [0, 0, 1, 255, 255, 0])
  }

  @Test func refusesOtherShapes() {
    for shape in [[4, 2, 2], [2, 3, 2, 2], [3], [3, 0, 2]] {
      #expect(
        errorCode { try Image(Tensor(shape: shape), .rgb) }?.exitCode == 2, "\(shape)")
    }
  }
}
