import CCodecs
import TensorCore

/// The orientation of the camera, from Exif tag 0x0112.
package enum Orientation: Int, CaseIterable, Sendable {
  case upright = 1
  case mirrored, upsideDown, mirroredUpsideDown, transposed, rotatedLeft, transversed, rotatedRight

  /// Reads the orientation from the positions where Pillow looks for it: a JPEG file's first Exif
  /// segment; a PNG file's `eXIf` chunk, else its text `Raw profile type exif`; else the file's XMP
  /// data. `upright` if nothing can be read.
  package init(of file: Bytes) {
    let found = Self.byte(file, 0) == 0x89 ? Self.inPNG(file) : Self.inJPEG(file)
    self = found.exif.flatMap { Self(tiff: $0) } ?? found.xmp.flatMap { Self(xmp: $0) } ?? .upright
  }

  private typealias Found = (exif: Bytes?, xmp: Bytes?)

  private static func inJPEG(_ file: Bytes) -> Found {
    var found: Found = (nil, nil)
    guard bigEndian(file, 0, 2) == 0xFFD8 else { return found }
    var position = 2
    while let marker = bigEndian(file, position, 2), marker >> 8 == 0xFF, marker != 0xFFDA,
      let length = bigEndian(file, position + 2, 2), length >= 2
    {
      let end = position + 2 + length
      guard end <= file.count else { break }
      if marker == 0xFFE1 {
        let segment = file[position + 4..<end]
        if found.exif == nil { found.exif = content(of: segment, after: "Exif\0\0") }
        if let xmp = content(of: segment, after: "http://ns.adobe.com/xap/1.0/\0") {
          found.xmp = xmp
        }
      }
      position = end
    }
    return found
  }

  private static func inPNG(_ file: Bytes) -> Found {
    var found: Found = (nil, nil)
    var profile: Bytes?
    var position = 8
    while let length = bigEndian(file, position, 4), let tag = bigEndian(file, position + 4, 4) {
      let start = position + 8
      guard length <= file.count - start else { break }
      let chunk = file[start..<start + length]
      switch tag {
      case 0x6558_4966: found.exif = chunk
      case 0x7445_5874:  // tEXt
        profile = content(of: chunk, after: profileKey + "\0") ?? profile
      case 0x7A54_5874:  // zTXt
        profile = content(of: chunk, after: profileKey + "\0\0").flatMap { inflated($0) } ?? profile
      case 0x6954_5874:  // iTXt; assumes an empty language and translated key
        found.xmp =
          content(of: chunk, after: xmpKey + "\0\0\0\0\0")
          ?? content(of: chunk, after: xmpKey + "\0\u{1}\0\0\0").flatMap { inflated($0) }
          ?? found.xmp
      default: break
      }
      position = start + length + 4
    }
    if found.exif == nil { found.exif = profile.flatMap { fromHexadecimal($0) } }
    return found
  }

  private static let profileKey = "Raw profile type exif"
  private static let xmpKey = "XML:com.adobe.xmp"

  private static func content(of bytes: Bytes, after start: String) -> Bytes? {
    let count = start.utf8.count
    guard bytes.count >= count, bytes[0..<count].array(of: UInt8.self) == Array(start.utf8) else {
      return nil
    }
    return bytes[count..<bytes.count]
  }

  /// The contents of a zlib stream, at most the first MiB.
  private static func inflated(_ stream: Bytes) -> Bytes? {
    guard let target = try? AlignedBuffer(checkedByteCount: 1 << 20) else { return nil }
    let count = stream.withUnsafeBytes { source in
      zlibExpand(
        source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count,
        target.pointer.assumingMemoryBound(to: UInt8.self), target.byteCount)
    }
    return Bytes(base: target.pointer, count: count, owner: target)
  }

  /// ImageMagick's profile: an empty line, the name, the length, then lines of hexadecimal digits.
  private static func fromHexadecimal(_ profile: Bytes) -> Bytes? {
    let lines = profile.array(of: UInt8.self).split(
      separator: 0x0A, omittingEmptySubsequences: false)
    let digits = lines.dropFirst(3).joined().filter { $0 != 0x20 && $0 != 0x0D }
      .map { Character(UnicodeScalar($0)).hexDigitValue }
    var bytes: [UInt8] = []
    for pair in stride(from: 0, to: digits.count - 1, by: 2) {
      guard let upper = digits[pair], let lower = digits[pair + 1] else { return nil }
      bytes.append(UInt8(upper << 4 | lower))
    }
    return Bytes(bytes)
  }

  /// Reads the first `tiff:Orientation="N"` or `<tiff:Orientation>N`.
  private init?(xmp: Bytes) {
    let text = xmp.array(of: UInt8.self)
    let tag = Array("tiff:Orientation".utf8)
    for start in text.indices where text[start] == tag[0] && text[start...].starts(with: tag) {
      let rest = text[(start + tag.count)...]
      for sign in ["=\"", ">"] where rest.starts(with: sign.utf8) {
        if let digit = rest.dropFirst(sign.utf8.count).first, (0x30...0x39).contains(digit) {
          self.init(rawValue: Int(digit) - 0x30)
          return
        }
      }
    }
    return nil
  }

  /// Reads the tag, a short, in the first directory of a TIFF structure.
  private init?(tiff: Bytes) {
    var tiff = tiff
    while let rest = Self.content(of: tiff, after: "Exif\0\0") { tiff = rest }
    guard let order = Self.bigEndian(tiff, 0, 2), order == 0x4949 || order == 0x4D4D else {
      return nil
    }
    func number(_ position: Int, _ count: Int) -> Int? {
      guard let value = Self.bigEndian(tiff, position, count) else { return nil }
      if order == 0x4D4D { return value }
      return (0..<count).reduce(0) { $0 << 8 | value >> (8 * $1) & 0xFF }
    }
    guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
    for entry in 0..<count {
      let index = directory + 2 + 12 * entry
      guard let tag = number(index, 2) else { return nil }
      if tag == 0x0112 {
        guard number(index + 2, 2) == 3, let value = number(index + 8, 2) else { return nil }
        self.init(rawValue: value)
        return
      }
    }
    return nil
  }

  private static func byte(_ bytes: Bytes, _ position: Int) -> UInt8? {
    guard position >= 0, position < bytes.count else { return nil }
    return bytes[position..<position + 1].array(of: UInt8.self)[0]
  }

  private static func bigEndian(_ bytes: Bytes, _ position: Int, _ count: Int) -> Int? {
    guard position >= 0, position <= bytes.count - count else { return nil }
    return bytes[position..<position + count].array(of: UInt8.self).reduce(0) { $0 << 8 | Int($1) }
  }
}

extension Image {
  /// The image rotated upright according to `orientation`.
  package func rotated(_ orientation: Orientation) throws -> Image {
    if orientation == .upright { return self }
    let swaps = orientation.rawValue >= 5
    let (width, height) = swaps ? (self.height, self.width) : (self.width, self.height)
    let (right, bottom) = (self.width - 1, self.height - 1)
    return try mapped(width: width, height: height) { source, target in
      for y in 0..<height {
        for x in 0..<width {
          let (column, row) =
            switch orientation {
            case .upright: (x, y)
            case .mirrored: (right - x, y)
            case .upsideDown: (right - x, bottom - y)
            case .mirroredUpsideDown: (x, bottom - y)
            case .transposed: (y, x)
            case .rotatedLeft: (y, bottom - x)
            case .transversed: (right - y, bottom - x)
            case .rotatedRight: (right - y, x)
            }
          for channel in 0..<channelCount {
            target[(y &* width &+ x) &* channelCount &+ channel] =
              source[(row &* self.width &+ column) &* channelCount &+ channel]
          }
        }
      }
    }
  }
}
