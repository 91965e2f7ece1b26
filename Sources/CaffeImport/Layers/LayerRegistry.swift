import ImportSupport

/// Every type of Caffe layer that Assay can convert.
enum CaffeLayerRegistry {
  static let types =
    converters.map { CaffeLayerType($0) } + ActivationFormula.all.compactMap { CaffeLayerType($0) }

  private static let converters: [any CaffeLayerConverter.Type] = [
    ConvolutionLayer.self, DepthwiseConvolution.self, Deconvolution.self, Im2col.self,
    InnerProductLayer.self, Embed.self, PoolingLayer.self, SPP.self, UpsampleLayer.self,
    PReLU.self, Power.self, Exp.self, Log.self, Threshold.self, ClipLayer.self, ReLU6.self,
    ConcatenatedReLU.self, Dropout.self, SoftmaxLayer.self, LRNLayer.self, MVN.self,
    NormalizeLayer.self,
    BatchNorm.self,
    BN.self, ScaleLayer.self, BiasLayer.self, Eltwise.self, Axpy.self, ConcatLayer.self,
    SliceLayer.self, Tile.self, ReshapeLayer.self, FlattenLayer.self,
    PermuteLayer.self, CropLayer.self, CropCenter.self, Reduction.self, ArgMaxLayer.self,
    BatchReindex.self, Parameter.self, LSTM.self, RNNLayer.self, LSTMUnit.self, Interp.self,
    ShuffleChannel.self, Reorg.self, PriorBox.self, DetectionOutput.self,
    RegionPooling.self, PositionSensitivePooling.self, ProposalLayer.self, PythonLayer.self,
  ]

  private static let byName: [String: CaffeLayerType] = Dictionary(
    types.flatMap { type in type.source.names.map { ($0, type) } },
    uniquingKeysWith: { first, _ in first })

  static func type(named name: String) -> CaffeLayerType? { byName[name] }
}
