import TensorCore

/// How a camera held a picture, by Exif's tag 0x0112.
public enum Orientation: Int, CaseIterable, Sendable {
  case upright = 1
  case mirrored, upsideDown, mirroredUpsideDown, transposed, turnedLeft, transversed, turnedRight

  /// What a JPEG file's first Exif segment says, or a PNG file's `eXIf` chunk; `upright` where there
  /// is none that can be read.
  public init(of file: Bytes) {
    self = Self.exif(in: file).flatMap { Self(tiff: $0) } ?? .upright
  }

  private static func exif(in file: Bytes) -> Bytes? {
    if byte(file, 0) == 0x89 { return chunk(in: file) }
    guard bigEndian(file, 0, 2) == 0xFFD8 else { return nil }
    var position = 2
    while let marker = bigEndian(file, position, 2), marker >> 8 == 0xFF, marker != 0xFFDA,
      let length = bigEndian(file, position + 2, 2), length >= 2
    {
      let end = position + 2 + length
      let start = position + 4
      if marker == 0xFFE1, end <= file.count, end - start > 6,
        file[start..<start + 6].array(of: UInt8.self) == Array("Exif\0\0".utf8)
      {
        return file[start + 6..<end]
      }
      position = end
    }
    return nil
  }

  private static func chunk(in file: Bytes) -> Bytes? {
    var position = 8
    while let length = bigEndian(file, position, 4), let tag = bigEndian(file, position + 4, 4) {
      let start = position + 8
      guard length <= file.count - start else { return nil }
      if tag == 0x6558_4966 { return file[start..<start + length] }
      position = start + length + 4
    }
    return nil
  }

  /// The tag in the first directory of a TIFF structure, a short.
  private init?(tiff: Bytes) {
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
      let place = directory + 2 + 12 * entry
      guard let tag = number(place, 2) else { return nil }
      if tag == 0x0112 {
        guard number(place + 2, 2) == 3, let value = number(place + 8, 2) else { return nil }
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
  /// The picture as it was seen, by what its file says of how the camera was held.
  public func turned(_ orientation: Orientation) throws -> Image {
    if orientation == .upright { return self }
    let swaps = orientation.rawValue >= 5
    let (width, height) = swaps ? (self.height, self.width) : (self.width, self.height)
    let (right, bottom) = (self.width - 1, self.height - 1)
    let buffer = try SampleBuffer(width: width, height: height, channelCount: channelCount)
    let target = buffer.bytes
    samples.withUnsafeBytes { source in
      for y in 0..<height {
        for x in 0..<width {
          let (column, row) =
            switch orientation {
            case .upright: (x, y)
            case .mirrored: (right - x, y)
            case .upsideDown: (right - x, bottom - y)
            case .mirroredUpsideDown: (x, bottom - y)
            case .transposed: (y, x)
            case .turnedLeft: (y, bottom - x)
            case .transversed: (right - y, bottom - x)
            case .turnedRight: (right - y, x)
            }
          for channel in 0..<channelCount {
            target[(y &* width &+ x) &* channelCount &+ channel] =
              source[(row &* self.width &+ column) &* channelCount &+ channel]
          }
        }
      }
    }
    return Image(
      width: width, height: height, channelCount: channelCount, samples: buffer.finished)
  }
}
