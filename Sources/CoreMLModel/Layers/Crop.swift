/// Cuts the borders off; with two inputs, cuts the first to the size of the second.
public struct Crop: LayerParameters {
  public static let typeName = "crop"
  public static let inputCount = 1...2

  public var cropAmounts: BorderAmounts?
  /// `[y, x]`, with two inputs.
  public var offset: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Crop: EncodedMessage {
  static let fields: [Field<Self>] = [
    .message("cropAmounts", \.cropAmounts),
    .ints("offset", \.offset),
  ]
}
