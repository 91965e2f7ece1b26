/// A `.weights` file: a header followed by the numbers of one layer after the other.
///
/// The header is `major, minor, revision` as 32-bit integers and the number of images seen in
/// training, with 64 bits if 10 · major + minor ≥ 2 and both are less than 1000, otherwise 32. If
/// one of them exceeds 1000, matrices of connected layers are transposed in the file. Alexey
/// Bochkovskiy's Darknet writes 64 bits in that case, too.
package struct WeightsFile: Sendable {
  package let path: String
  /// The numbers after the header.
  package let values: Bytes
  package let headerBytes: Int
  package let version: (major: Int, minor: Int, revision: Int)
  /// The number of images seen in training.
  package let seen: UInt64
  package let isTransposed: Bool
  /// Whether the header might also have the other length.
  package let isAmbiguous: Bool

  /// - Parameter takesOther: whether to read an ambiguous header with the other length.
  package init(_ bytes: Bytes, path: String, takesOther: Bool = false) throws {
    self.path = path
    let words = bytes[0..<min(bytes.count, 20)].array(of: UInt32.self)
    try require(
      words.count >= 4,
      "\(bytes.count) bytes are too few for Darknet weights, whose header alone has 16", file: path)
    let major = Int(Int32(bitPattern: words[0]))
    let minor = Int(Int32(bitPattern: words[1]))
    version = (major, minor, Int(Int32(bitPattern: words[2])))
    isTransposed = major > 1000 || minor > 1000
    let isRecent = major * 10 + minor >= 2
    let isSmall = major < 1000 && minor < 1000
    isAmbiguous = isRecent && !isSmall
    let isLong = isRecent && (isSmall || takesOther)
    headerBytes = isLong ? 20 : 16
    try require(
      bytes.count >= headerBytes, "it ends inside its header, which has \(headerBytes) bytes",
      file: path)
    seen = UInt64(words[3]) | (isLong ? UInt64(words[4]) << 32 : 0)
    values = bytes[headerBytes..<bytes.count]
  }
}
