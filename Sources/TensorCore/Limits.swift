/// Fixed upper bounds on what an input may declare; see `docs/security.md`.
public enum Limits {
  /// Bytes of an `.mlmodel`: protobuf's own bound.
  public static let modelBytes = Int(Int32.max)
  /// Bytes of any other input file.
  public static let fileBytes = 4 << 30
  /// Elements of one tensor.
  public static let tensorElements = 1 << 31
  public static let rank = 8
  public static let dimension = Int(Int32.max)
  public static let layers = 100_000
  public static let nameBytes = 4096
  public static let protobufDepth = 64
  /// Bytes and values of a text in protobuf's text format.
  public static let prototxtBytes = 16 << 20
  public static let prototxtValues = 1_000_000
  public static let jsonDepth = 128
  public static let jsonBytes = 64 << 20
  public static let imageSide = 16_384
  public static let imageSamples = 512 << 20
  public static let zipMembers = 10_000
  /// Greatest ratio of a compressed member's size to its bytes in the file.
  public static let expansionRatio = 1000
  /// The same for a whole zip archive that expands to more than `zipUncheckedBytes`.
  public static let zipExpansionRatio = 100
  public static let zipUncheckedBytes = 64 << 20
  public static let npyHeaderBytes = 64 << 10
}
