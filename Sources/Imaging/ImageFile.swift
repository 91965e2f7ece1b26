import ByteFormats
import Files
import TensorCore

extension Image {
  /// Reads a PNG or JPEG file, detected from the content; `-` is standard input.
  ///
  /// The samples equal those of Pillow's `convert("RGB")`, or `convert("L")` for a gray file:
  /// transparency is dropped, palettes are applied, 16-bit colors keep their upper 8 bits, and
  /// 16-bit gray is clipped at 255. Gamma, color profiles and orientation are ignored.
  public static func read(_ path: String) throws -> Image {
    let bytes = try MappedFile.read(path)
    return try inFile(path == "-" ? "standard input" : path) { try Image(decoding: bytes) }
  }

  /// Decodes the bytes of a PNG or JPEG file.
  ///
  /// - Throws: `.malformed` if they are damaged or truncated, `.limitExceeded` if the image is too
  ///   large, `.unsupported` for other formats.
  public init(decoding bytes: Bytes) throws {
    let format = FileFormat(bytes)
    switch format {
    case .png: self = try PNGCodec.decode(bytes)
    case .jpeg: self = try JPEGCodec.decode(bytes)
    case .unknown, .text, .prototxt:
      throw ModelError(.malformed, "is neither a PNG nor a JPEG file")
    default: throw format.error(expected: "a PNG or JPEG image")
    }
  }
}
