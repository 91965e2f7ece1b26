import TensorCore
import TestSupport
import Testing

@testable import Imaging

struct FittingTests {
  /// Four columns with the values 10, 20, 30, 40, in two rows.
  private let wide = Image(
    width: 4, height: 2, channelCount: 1,
    samples: Bytes([10, 20, 30, 40, 10, 20, 30, 40] as [UInt8]))

  @Test func exactRefusesAnotherSize() throws {
    #expect(try wide.fitted(width: 4, height: 2, .exact, .bilinear) == wide)
    #expect(errorCode { try wide.fitted(width: 2, height: 2, .exact, .bilinear) } == .mismatch)
  }

  @Test func squashTakesAll() throws {
    #expect(try wide.fitted(width: 2, height: 2, .squash, .box).bytes == [15, 35, 15, 35])
  }

  @Test func centerCropTakesTheMiddle() throws {
    #expect(try wide.fitted(width: 2, height: 2, .centerCrop, .box).bytes == [20, 30, 20, 30])
    #expect(try wide.fitted(width: 1, height: 1, .centerCrop, .box).bytes == [25])
    #expect(
      try wide.fitted(width: 4, height: 1, .centerCrop, .nearest).bytes == [10, 20, 30, 40])
  }

  @Test func fitPutsBlackAround() throws {
    #expect(
      try wide.fitted(width: 2, height: 3, .fit, .box).bytes == [0, 0, 15, 35, 0, 0])
    #expect(
      try wide.fitted(width: 6, height: 2, .fit, .nearest).bytes
        == [0, 10, 20, 30, 40, 0, 0, 10, 20, 30, 40, 0])
  }
}
