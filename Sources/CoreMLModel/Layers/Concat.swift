/// The inputs one after the other along the channels, or along the sequence.
public struct Concat: LayerParameters {
  public static let typeName = "concat"
  public static let inputCount = 1...Int.max

  public var sequenceConcat = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Equal parts of the channels.
public struct Split: LayerParameters {
  public static let typeName = "split"
  public static let outputCount = 1...Int.max

  public var nOutputs = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// The sequence, repeated.
public struct SequenceRepeat: LayerParameters {
  public static let typeName = "sequenceRepeat"

  /// 0 means 1.
  public var nRepetitions = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Moves blocks of pixels into channels, or back.
public struct ReorganizeData: LayerParameters {
  public enum Mode: Int, Sendable, CaseIterable {
    case spaceToDepth = 0
    case depthToSpace = 1
    /// Since specification 5.
    case pixelShuffle = 2
  }

  public static let typeName = "reorganizeData"

  public var mode = Mode.spaceToDepth
  public var blockSize = 0
  public var unknownFields = UnknownFields()

  public init() {}
}

/// A range of one axis; a negative end counts from the end.
public struct Slice: LayerParameters {
  public enum Axis: Int, Sendable, CaseIterable {
    case channel = 0
    case height = 1
    case width = 2
  }

  public static let typeName = "slice"

  public var startIndex = 0
  public var endIndex = 0
  public var stride = 0
  public var axis = Axis.channel
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Concat: EncodedMessage {
  static let fields: [Field<Self>] = [
    .bool("sequenceConcat", \.sequenceConcat)
  ]
}

extension Split: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("nOutputs", \.nOutputs)
  ]
}

extension SequenceRepeat: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("nRepetitions", \.nRepetitions)
  ]
}

extension ReorganizeData: EncodedMessage {
  static let fields: [Field<Self>] = [
    .value("mode", \.mode),
    .int("blockSize", \.blockSize),
  ]
}

extension Slice: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("startIndex", \.startIndex),
    .int("endIndex", \.endIndex),
    .int("stride", \.stride),
    .value("axis", \.axis),
  ]
}
