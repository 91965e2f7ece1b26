/// Every kind of section that can be converted.
enum DarknetLayerRegistry {
  static let types: [DarknetLayer] = [
    .convolutional, .deconvolutional, .local, .connected, .maxPool, .averagePool,
    .localAveragePool, .route, .shortcut, .scaleChannels, .sam, .reorg, .reorg3D, .upsample, .crop,
    .activation, .logistic, .softmax, .batchNorm, .normalization, .l2Norm, .implicit, .dropout,
    .cost, .region, .yolo, .detection, .recurrent, .gated, .longMemory, .convolutionalRecurrent,
    .convolutionalLongMemory,
  ]

  private static let byName = Dictionary(
    uniqueKeysWithValues: types.flatMap { type in type.source.names.map { ($0, type) } })

  /// - Parameter kind: the name in lower case.
  static func type(named kind: String) -> DarknetLayer? { byName[kind] }
}
