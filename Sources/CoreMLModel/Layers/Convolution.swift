/// out[o, y, x] = bias[o] + Σ weights[o, i, r, s] · in[i, y·stride + r·dilation − top, …], or its
/// transpose.
///
/// Weights are `[outputChannels, kernelChannels, h, w]`, of a deconvolution
/// `[kernelChannels, outputChannels / nGroups, h, w]`.
public struct Convolution: LayerParameters {
  public enum Padding: Sendable, Equatable {
    case valid(ValidPadding)
    case same(SamePadding)
  }

  public static let typeName = "convolution"

  public var outputChannels = 0
  public var kernelChannels = 0
  public var nGroups = 0
  public var kernelSize: [Int] = []
  public var stride: [Int] = []
  public var dilationFactor: [Int] = []
  public var padding: Padding?
  public var isDeconvolution = false
  public var hasBias = false
  public var kernel: Weights?
  public var bias: Weights?
  /// `[H, W]` of a deconvolution's output; overrides the padding.
  public var outputShape: [Int] = []
  public var unknownFields = UnknownFields()

  public init() {}
}

extension Convolution: EncodedMessage {
  static let fields: [Field<Self>] = [
    .int("outputChannels", \.outputChannels),
    .int("kernelChannels", \.kernelChannels),
    .int("nGroups", \.nGroups),
    .ints("kernelSize", \.kernelSize),
    .ints("stride", \.stride),
    .ints("dilationFactor", \.dilationFactor),
    .choice(
      \.padding,
      [
        .message(
          "valid", { .valid($0) }, { if case .valid(let value) = $0 { value } else { nil } }),
        .message("same", { .same($0) }, { if case .same(let value) = $0 { value } else { nil } }),
      ]),
    .bool("isDeconvolution", \.isDeconvolution),
    .bool("hasBias", \.hasBias),
    .message("weights", \.kernel),
    .message("bias", \.bias),
    .ints("outputShape", \.outputShape),
  ]
}
