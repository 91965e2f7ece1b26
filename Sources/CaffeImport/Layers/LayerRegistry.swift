import ImportSupport

/// Every type of Caffe layer that Assay can convert.
enum CaffeLayerRegistry {
  static let types =
    converters + ActivationFormula.all.compactMap(CaffeLayerType.function)

  private static let converters: [CaffeLayerType] =
    [
      .convolution, .depthwiseConvolution, .deconvolution, .im2col, .innerProduct, .embed, .pooling,
      .spp, .upsample, .prelu, .power, .exponential, .logarithm, .threshold, .clip, .relu6,
      .concatenatedReLU,
      .dropout, .softmax, .lrn, .mvn, .normalize, .batchNorm, .bn, .scale, .bias, .eltwise, .axpy,
      .concat, .slice, .tile, .reshape, .flatten, .permute, .crop, .cropCenter, .reduction, .argMax,
      .batchReindex, .parameter, .lstm, .rnn, .lstmUnit, .interp, .shuffleChannel, .reorg,
      .priorBox, .detectionOutput, .regionPooling, .positionSensitivePooling, .proposal, .python,
    ]

  private static let byName: [String: CaffeLayerType] = Dictionary(
    types.flatMap { type in type.source.names.map { ($0, type) } },
    uniquingKeysWith: { first, _ in first })

  static func type(named name: String) -> CaffeLayerType? { byName[name] }
}
