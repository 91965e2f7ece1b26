/// Another shape for the same elements.
public struct Reshape: LayerParameters {
  public enum Order: Int, Sendable, CaseIterable {
    /// C, H, W as they are.
    case channelFirst = 0
    /// To H, W, C, reshaped, and back.
    case channelLast = 1
  }

  public static let typeName = "reshape"

  /// `[C, H, W]` or `[Seq, C, H, W]`
  public var targetShape: [Int] = []
  public var mode = Order.channelFirst
  public var unknownFields = UnknownFields()

  public init() {}
}

/// To `[C·H·W, 1, 1]`.
public struct Flatten: LayerParameters {
  public enum Order: Int, Sendable, CaseIterable {
    case channelFirst = 0
    case channelLast = 1
  }

  public static let typeName = "flatten"

  public var mode = Order.channelFirst
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Axis `i` of `[Seq, C, H, W]` of the output is axis `axis[i]` of the input.
public struct Permute: LayerParameters {
  public static let typeName = "permute"

  public var axis: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Reshape: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("targetShape", \.targetShape),
    .value("mode", \.mode),
  ]
}

extension Flatten: EncodedMessage {
  static let fields: [Field<Self>] = [
    .value("mode", \.mode)
  ]
}

extension Permute: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("axis", \.axis)
  ]
}
