/// Every class of Keras layers that is read; this is the one list of this stage.
enum KerasLayerRegistry {
  static let types: [any KerasLayer.Type] = [
    InputLayer.self, Conv2D.self, DepthwiseConv2D.self, SeparableConv2D.self,
    Conv2DTranspose.self, Dense.self, ActivationLayer.self, LeakyReLU.self, PReLU.self, ELU.self,
    ReLU.self, SoftmaxLayer.self, ThresholdedReLU.self, BatchNormalization.self,
    MaxPooling2D.self, AveragePooling2D.self, GlobalMaxPooling2D.self,
    GlobalAveragePooling2D.self, ZeroPadding2D.self, Cropping2D.self, UpSampling2D.self,
    FlattenLayer.self, ReshapeLayer.self, Dropout.self, AddLayer.self, SubtractLayer.self,
    MultiplyLayer.self, AverageLayer.self, MaximumLayer.self, MinimumLayer.self,
    ConcatenateLayer.self, DotLayer.self, MergeLayer.self, Conv1D.self, MaxPooling1D.self,
    AveragePooling1D.self, GlobalMaxPooling1D.self, GlobalAveragePooling1D.self,
    ZeroPadding1D.self, Cropping1D.self, UpSampling1D.self, PermuteLayer.self, RepeatVector.self,
    EmbeddingLayer.self, SimpleRNN.self, GRULayer.self, LSTM.self, Bidirectional.self,
    CuDNNLSTM.self, CuDNNGRU.self, RNN.self, MaskingLayer.self, DepthwiseConv1D.self,
    SeparableConv1D.self, Conv1DTranspose.self, LocallyConnected1D.self, LocallyConnected2D.self,
    Conv3D.self, Conv3DTranspose.self, MaxPooling3D.self, AveragePooling3D.self,
    GlobalMaxPooling3D.self, GlobalAveragePooling3D.self, ZeroPadding3D.self, Cropping3D.self,
    UpSampling3D.self, LayerNormalization.self, UnitNormalization.self, GroupNormalization.self,
    InstanceNormalization.self, Rescaling.self, NormalizationLayer.self, Resizing.self,
    CenterCrop.self, Discretization.self, CategoryEncoding.self, IntegerLookup.self, ConvLSTM.self,
    Attention.self,
    MultiHeadAttention.self, EinsumDense.self, SpectralNormalization.self, ParametricSoftplus.self,
    SReLU.self, Highway.self, MaxoutDense.self,
    TimeDistributed.self, TimeDistributedDense.self, OperationLayer.self,
    AdaptivePooling.self, AutoContrast.self, ReversibleEmbedding.self, CustomScaleLayer.self,
    DeprocessStylizedImage.self,
    LayerScale.self,
  ]

  private static let byName: [String: any KerasLayer.Type] = Dictionary(
    types.flatMap { type in type.classNames.map { ($0, type) } },
    uniquingKeysWith: { first, _ in first })

  static func type(named className: String) -> (any KerasLayer.Type)? { byName[className] }
}
