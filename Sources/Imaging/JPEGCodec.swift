import CCodecs
import TensorCore

enum JPEGCodec {
  static func decode(_ bytes: Bytes) throws -> Image {
    try bytes.withUnsafeBytes { source in
      var info = JPEGInfo()
      let reader = try CodecMessage.check("JPEG") { message in
        jpegReaderOpen(
          source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count, &info, message)
      }
      defer { jpegReaderClose(reader) }
      return try decode(reader, info, fileByteCount: bytes.count)
    }
  }

  /// A block of 8 × 8 samples takes at least one bit, and with 4 × 4 subsampling a pixel has little
  /// more than one sample: at most 8 · 64 · 3 · 16 / 18 samples per byte.
  private static let largestExpansion = 1536
  /// Arithmetic coding can use less than one bit per block.
  private static let largestArithmeticExpansion = 64 * largestExpansion
  /// The number of samples that all scans of a progressive file may visit; ten scans are usual.
  private static let scannedSamples = 1 << 32

  private static func decode(
    _ reader: OpaquePointer, _ info: JPEGInfo, fileByteCount: Int
  ) throws -> Image {
    let (width, height) = (Int(info.width), Int(info.height))
    try SampleBuffer.checkFits(
      width: width, height: height, channelCount: Int(info.channels), of: "JPEG",
      fitsInto: fileByteCount,
      expansion: info.isArithmetic != 0 ? largestArithmeticExpansion : largestExpansion)
    let raw = try SampleBuffer(
      width: width, height: height, channelCount: Int(info.channels))
    let scanLimit = min(200, max(20, scannedSamples / raw.bytes.count))
    let damage = try CodecMessage.check("JPEG") { message in
      jpegReaderRead(reader, raw.bytes.baseAddress, Int32(scanLimit), message)
    }
    if info.channels != 4 {
      return Image(
        width: width, height: height, channelCount: Int(info.channels), samples: raw.finished,
        damage: damage)
    }
    let target = try SampleBuffer(width: width, height: height, channelCount: 3)
    convertInks(UnsafeBufferPointer(raw.bytes), to: target.bytes)
    return Image(
      width: width, height: height, channelCount: 3, samples: target.finished, damage: damage)
  }

  /// Converts cyan, magenta, yellow and black, stored inverted as Adobe does, to red, green and
  /// blue: `K' − (255 − C') K' / 255` for inverted inks, rounded as in Pillow.
  private static func convertInks(
    _ source: UnsafeBufferPointer<UInt8>, to target: UnsafeMutableBufferPointer<UInt8>
  ) {
    for pixel in 0..<target.count / 3 {
      let black = UInt32(source[4 &* pixel &+ 3])
      for channel in 0..<3 {
        let ink = 255 &- UInt32(source[4 &* pixel &+ channel])
        let product = ink &* black &+ 128
        target[3 &* pixel &+ channel] = UInt8(
          truncatingIfNeeded: black &- ((product >> 8) &+ product) >> 8)
      }
    }
  }
}
