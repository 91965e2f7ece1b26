/// Maximum, average or L2 norm over windows.
public struct Pooling: LayerParameters {
  public enum PoolingType: Int, Sendable, CaseIterable {
    case max = 0
    case average = 1
    case l2 = 2
  }

  public enum Padding: Sendable, Equatable {
    case valid(ValidPadding)
    case same(SamePadding)
    case includeLastPixel(ValidCompletePadding)
  }

  public static let typeName = "pooling"

  public var type = PoolingType.max
  public var kernelSize: [Int] = []
  public var stride: [Int] = []
  public var padding: Padding?
  public var avgPoolExcludePadding = false
  public var globalPooling = false
  public var unknownFields = UnknownFields()

  public init() {}
}

/// Caffe's rule: out = ⌈(in + 2·pad − kernel) / stride⌉ + 1, less one where the last window would
/// begin in the padding.
public struct ValidCompletePadding: SpecificationMessage {
  public var paddingAmounts: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Pooling: EncodedMessage {
  static let fields: [Field<Self>] = [
    .value("type", \.type),
    .ints("kernelSize", \.kernelSize),
    .ints("stride", \.stride),
    .choice(
      \.padding,
      [
        .message(
          "valid", { .valid($0) }, { if case .valid(let value) = $0 { value } else { nil } }),
        .message("same", { .same($0) }, { if case .same(let value) = $0 { value } else { nil } }),
        .message(
          "includeLastPixel", { .includeLastPixel($0) },
          { if case .includeLastPixel(let value) = $0 { value } else { nil } }),
      ]),
    .bool("avgPoolExcludePadding", \.avgPoolExcludePadding),
    .bool("globalPooling", \.globalPooling),
  ]
}

extension ValidCompletePadding: EncodedMessage {
  static let fields: [Field<Self>] = [
    .ints("paddingAmounts", \.paddingAmounts)
  ]
}
