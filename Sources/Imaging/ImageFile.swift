import Files
import TensorCore

extension Image {
  /// Reads a PNG or JPEG file, whichever its contents are; `-` is standard input.
  ///
  /// The samples equal those of Pillow's `convert("RGB")`, or `convert("L")` for a grey file:
  /// transparency is dropped, palettes are applied, colours of 16 bits keep their upper 8, grey of
  /// 16 bits is cut off at 255. Gamma, colour profiles and orientation are ignored.
  public static func read(_ path: String) throws -> Image {
    let bytes = try MappedFile.read(path)
    return try inFile(path == "-" ? "standard input" : path) { try Image(decoding: bytes) }
  }

  /// Decodes the bytes of a PNG or JPEG file.
  ///
  /// - Throws: `.malformed` where they are damaged or cut off, `.limitExceeded` where the picture is
  ///   too large, `.unsupported` for other formats.
  public init(decoding bytes: Bytes) throws {
    let start = bytes[0..<min(bytes.count, 16)].array(of: UInt8.self)
    if start.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      self = try PNGCodec.decode(bytes)
    } else if start.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = try JPEGCodec.decode(bytes)
    } else {
      let name = Self.formats.first { start.dropFirst($0.offset).starts(with: $0.magic.utf8) }?.name
      guard let name else {
        throw ModelError(
          .malformed, start.isEmpty ? "the file is empty" : "is neither a PNG nor a JPEG file")
      }
      throw ModelError(
        .unsupported, "is a \(name) file", hint: "convert the picture to PNG or JPEG")
    }
  }

  /// Pictures that are recognised to be named in the error.
  private static let formats: [(offset: Int, magic: String, name: String)] = [
    (0, "GIF8", "GIF"), (0, "BM", "BMP"), (0, "II*\0", "TIFF"), (0, "MM\0*", "TIFF"),
    (8, "WEBP", "WebP"), (4, "ftyphei", "HEIF"), (4, "ftypmif1", "HEIF"), (4, "ftypavif", "AVIF"),
    (0, "%PDF", "PDF"),
  ]
}
