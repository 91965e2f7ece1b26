import ByteFormats

/// Every Keras layer class that Assay reads.
enum KerasLayerRegistry {
  static let types: [any KerasLayer.Type] = kerasTypes + keras1Types + packageTypes

  private static let kerasTypes: [any KerasLayer.Type] = [
    InputLayer.self, Dense.self, ActivationLayer.self, EmbeddingLayer.self,
    ReversibleEmbedding.self, MaskingLayer.self, Dropout.self, RectifierLayer.self, PReLU.self,
    ReLU.self, SoftmaxLayer.self, SpectralNormalization.self, EinsumDense.self,
    TimeDistributed.self,
    KerasOperationLayer.self, Conv.self, DepthwiseConv.self, SeparableConv.self, ConvTranspose.self,
    Conv3D.self, Conv3DTranspose.self, LocallyConnected.self, PoolingLayer.self,
    GlobalPooling.self, AdaptivePooling.self, FlattenLayer.self, ReshapeLayer.self,
    PermuteLayer.self, RepeatVector.self, ZeroPadding.self, Cropping.self, UpSampling.self,
    ElementwiseMergeLayer.self, SubtractLayer.self, ConcatenateLayer.self, DotLayer.self,
    MergeLayer.self, BatchNormalization.self, LayerNormalization.self, GroupNormalization.self,
    UnitNormalization.self, RecurrentLayer.self, Bidirectional.self,
    ConvLSTM.self, Attention.self, MultiHeadAttention.self, Rescaling.self,
    NormalizationLayer.self, Resizing.self, CenterCrop.self, Discretization.self,
    CategoryEncoding.self, IntegerLookup.self, AutoContrast.self, LayerScale.self,
    STFTSpectrogram.self, MelSpectrogram.self,
  ]

  /// Classes of other packages. Those in Swift cannot be recipes: only stored weights distinguish
  /// their variants (`ContextAttention`, `PairwisePositionalEmbedding`), or they compute a mask
  /// (`TokenAndPositionEmbedding`, `TableEmbedding`), share a table (`EmbeddingSimilarity`), move
  /// windows into the batch (`RelativePositionalEmbedding`, `WindowAttentionMask`), have too many
  /// weights (`StandardizedConvolution`) or are variants of Keras's layers.
  private static let packageTypes: [any KerasLayer.Type] = [
    InstanceNormalization.self, RecipeLayer.self, StandardizedConvolution.self,
    CompatibleExtractPatches.self, RelativePositionalEmbedding.self,
    PairwisePositionalEmbedding.self, WindowAttentionMask.self, TokenAndPositionEmbedding.self,
    DepthwiseConv3D.self, ContextAttention.self, TableEmbedding.self, EmbeddingSimilarity.self,
  ]

  /// Names that packages gave to classes like Keras's.
  private static let packageNames: Set<String> = [
    "ActivityRegularizer", "BatchNorm", "DropBlock1D", "DropBlock2D", "DropConnect",
    "FixedBatchNormalization", "FixedDropout", "GradientReversal", "PatchConv2DWithResampleWeights",
    "ReflectPadding2D", "ReflectionPadding2D",
  ]

  /// The names of Keras's own classes.
  static let kerasNames = Set(kerasTypes.flatMap { $0.classNames }).subtracting(packageNames)
    .union(ModelDefinition.modelClasses).union(LayerConfiguration.cellTypes.keys)
    .union(["Lambda"])

  private static let byName: [String: any KerasLayer.Type] = Dictionary(
    types.flatMap { type in type.classNames.map { ($0, type) } },
    uniquingKeysWith: { first, _ in first })

  static func type(named className: String) -> (any KerasLayer.Type)? { byName[className] }
}

extension KerasVersion {
  /// A version whose layers have the registry's types.
  init(text: String?, backend: String?, configuration: JSONValue? = nil) {
    self.init(
      text: text, backend: backend, configuration: configuration,
      layerType: { KerasLayerRegistry.type(named: $0) })
  }
}

extension ModelDefinition.Layer {
  /// What reads its configuration; nil for an unknown class.
  var type: (any KerasLayer.Type)? {
    if isOperation { return KerasOperationLayer.self }
    if className == "PositionalEmbedding", fields["vocab_size"] != nil {
      return TokenAndPositionEmbedding.self
    }
    let type = KerasLayerRegistry.type(named: className)
    return type != nil && QuantizedLayer.applies(to: fields) ? QuantizedLayer.self : type
  }
}
