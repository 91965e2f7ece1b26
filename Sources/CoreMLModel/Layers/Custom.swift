/// A layer that Core ML does not know: the class that implements it, its parameters and weights.
public struct Custom: LayerParameters {
  public enum Value: Sendable, Equatable {
    case double(Double)
    case string(String)
    case int(Int32)
    case long(Int64)
    case bool(Bool)
  }

  public static let typeName = "custom"
  public static let specificationVersion = 2
  public static let inputCount = 0...Int.max
  public static let outputCount = 1...Int.max

  public var className = ""
  public var blobs: [Weights] = []
  /// A value may be unset. Written in ascending order of the keys.
  public var parameters: [String: Value?] = [:]
  public var classDescription = ""
  public var unknownFields = UnknownFields()

  public init() {}
}
