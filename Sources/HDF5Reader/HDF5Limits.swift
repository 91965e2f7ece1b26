import TensorCore

/// Bounds on what an HDF5 file may declare, besides `Limits`. Worker and parent both check them.
public enum HDF5Limits {
  /// Groups, datasets and refused links of one file.
  public static let objects = 1_000_000
  public static let depth = 32
  public static let attributesPerObject = 10_000
  /// Bytes of one attribute or one string dataset.
  public static let attributeBytes = Limits.jsonBytes
  /// Bytes of all frames of one pass.
  public static let frameBytes = 256 << 20
  public static let filters = 8
  public static let messageBytes = 4096
  /// A dataset may declare this many bytes whatever is stored of it, and beyond that
  /// `Limits.expansionRatio` times what is stored.
  public static let freeBytes = 64 << 10
}
