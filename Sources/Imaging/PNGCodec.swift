import CCodecs
import Files
import LibC
import TensorCore

enum PNGCodec {
  static func decode(_ bytes: Bytes) throws -> Image {
    try bytes.withUnsafeBytes { source in
      var info = PNGInfo()
      let reader = try CodecMessage.check("PNG") { message in
        pngReaderOpen(
          source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count, &info, message)
      }
      defer { pngReaderClose(reader) }
      return try decode(reader, info, fileByteCount: bytes.count)
    }
  }

  /// Deflate expands a byte to at most 1032 bytes; larger images cannot be complete.
  private static let largestExpansion = 1032

  private static func decode(
    _ reader: OpaquePointer, _ info: PNGInfo, fileByteCount: Int
  ) throws -> Image {
    let (width, height) = (Int(info.width), Int(info.height))
    let bytesPerSample = info.bitDepth == 16 ? 2 : 1
    try SampleBuffer.checkFits(
      width: width, height: height, channelCount: Int(info.channels), of: "PNG",
      fitsInto: fileByteCount, expansion: largestExpansion)
    let raw = try SampleBuffer(
      width: width, height: height, channelCount: Int(info.channels),
      bytesPerSample: bytesPerSample)
    let rowByteCount = width * Int(info.channels) * bytesPerSample
    let damage = try CodecMessage.check("PNG") { message in
      pngReaderRead(reader, raw.bytes.baseAddress, rowByteCount, message)
    }
    if info.bitDepth == 8, info.isPalette == 0, info.channels == 1 || info.channels == 3 {
      return Image(
        width: width, height: height, channelCount: Int(info.channels), samples: raw.finished,
        damage: damage)
    }
    let channelCount = info.isPalette != 0 || info.channels >= 3 ? 3 : 1
    let target = try SampleBuffer(width: width, height: height, channelCount: channelCount)
    convert(UnsafeRawBufferPointer(raw.bytes), info, to: target.bytes, channelCount: channelCount)
    return Image(
      width: width, height: height, channelCount: channelCount, samples: target.finished,
      damage: damage)
  }

  private static func convert(
    _ source: UnsafeRawBufferPointer, _ info: PNGInfo,
    to target: UnsafeMutableBufferPointer<UInt8>, channelCount: Int
  ) {
    let step = Int(info.channels)
    let pixelCount = target.count / channelCount
    if info.isPalette != 0 {
      withUnsafeBytes(of: info.palette) { palette in
        for pixel in 0..<pixelCount {
          for channel in 0..<3 {
            target[3 &* pixel &+ channel] = palette[3 &* Int(source[pixel]) &+ channel]
          }
        }
      }
    } else if info.bitDepth == 16 {
      let words = source.assumingMemoryBound(to: UInt16.self)
      for pixel in 0..<pixelCount {
        for channel in 0..<channelCount {
          let word = words[pixel &* step &+ channel]
          target[pixel &* channelCount &+ channel] =
            step == 1 ? UInt8(clamping: word) : UInt8(truncatingIfNeeded: word >> 8)
        }
      }
    } else {
      // Samples of 1, 2 or 4 bits are scaled to 0…255.
      let scale: UInt8 = info.bitDepth < 8 ? 255 / (1 << UInt8(info.bitDepth) - 1) : 1
      for pixel in 0..<pixelCount {
        for channel in 0..<channelCount {
          target[pixel &* channelCount &+ channel] = source[pixel &* step &+ channel] &* scale
        }
      }
    }
  }

  static func encode(_ image: Image) throws -> [UInt8] {
    var output: UnsafeMutablePointer<UInt8>?
    var outputCount = 0
    try image.samples.withUnsafeBytes { source in
      _ = try CodecMessage.check("PNG") { message in
        pngEncode(
          source.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(image.width),
          UInt32(image.height), Int32(image.channelCount), &output, &outputCount, message)
      }
    }
    defer { free(output) }
    return Array(UnsafeBufferPointer(start: output, count: outputCount))
  }
}

extension Image {
  /// The image as a PNG file; equal images produce equal bytes.
  package func pngData() throws -> [UInt8] { try PNGCodec.encode(self) }

  /// Writes a PNG file.
  ///
  /// - Parameter folder: see `AtomicFile.write`.
  package func writePNG(to path: String, in folder: String? = nil) throws {
    let data = try inFile(path) { try pngData() }
    try AtomicFile.write(to: path, in: folder, byteCount: data.count) { try $0.write(data) }
  }
}

/// Converts the codecs' messages to errors.
enum CodecMessage {
  private static func error(_ format: String, _ message: UnsafeMutablePointer<CChar>) -> ModelError
  {
    let text = String(cString: message)
    if text.lowercased().contains("memory") {
      return ModelError(.outOfMemory, "\(format): \(text)")
    }
    return ModelError(
      .malformed, "the \(format) image cannot be read: \(text)",
      hint: "the file is truncated or damaged")
  }

  private static func with<Result>(
    _ body: (UnsafeMutablePointer<CChar>) throws -> Result
  ) rethrows -> Result {
    var storage = [CChar](repeating: 0, count: Int(CODEC_MESSAGE_BYTES))
    return try body(&storage)
  }

  static func check(
    _ format: String, _ body: (UnsafeMutablePointer<CChar>) -> OpaquePointer?
  ) throws -> OpaquePointer {
    try with { message in
      guard let reader = body(message) else { throw error(format, message) }
      return reader
    }
  }

  /// The damage that the library tolerated; nil if there is none.
  static func check(
    _ format: String, _ body: (UnsafeMutablePointer<CChar>) -> Int32
  ) throws -> String? {
    try with { message in
      let result = body(message)
      guard result >= 0 else { throw error(format, message) }
      return result == 0 ? nil : String(cString: message)
    }
  }
}
