/// Layer classes that a converter knows and the interpreter of its framework lacks.
enum UninterpretedClasses {
  static let keras: Set<String> = [
    "AnchorBoxes", "Anchors", "AttLayer", "AttentionWithContext", "AutoContrast", "ClipBoxes",
    "CompatibleExtractPatches", "EmbeddingRet", "EmbeddingSim", "EmbeddingSimilarity",
    "ExpLogitScale", "Extract", "FNetEncoder", "FeedForward", "GroupQueryAttention",
    "GroupedQueryAttention", "HActivation", "HAdd", "HConv1D", "HConv1DBatchNorm", "HConv2D",
    "HConv2DBatchNorm", "HDense", "HDenseBatchNorm", "HQuantize", "InstanceNormalization",
    "IntegerLookup", "KerasActivationQuantizationHolder", "KerasQuantizationWrapper", "MixerBlock",
    "MlpPairwisePositionalEmbedding", "MultiHeadPositionalEmbedding",
    "MultiHeadRelativePositionalEmbedding", "OctaveConv2D", "PatchConv2DWithResampleWeights",
    "PixelShuffler", "PositionEmbedding", "PositionalEncodingFourier", "QActivation",
    "QAveragePooling2D", "QBatchNormalization", "QConv1D", "QConv2D", "QConv2DBatchnorm",
    "QConv2DTranspose", "QDense", "QDepthwiseConv2D", "QDepthwiseConv2DBatchnorm",
    "QGlobalAveragePooling2D", "QSeparableConv1D", "QSeparableConv2D", "RandomCrop", "RegressBoxes",
    "RelativePositionalEmbedding", "ReluWeightedSum", "ScaledDotProductAttention",
    "ScaledStandardizedConv2D", "SeqSelfAttention", "SeqWeightedAttention", "SlicingOpLambda",
    "SpectralNormalization", "SwinTransformerBlock", "TCN", "TFOpLambda", "TensorFlowOpLayer",
    "TokenEmbedding", "TransformerDecoder", "TransformerEncoder", "TrigPosEmbedding", "ViTEncoder",
    "ViTPatchingAndEmbedding", "WindowAttentionMask", "patch_embedding", "patch_expanding",
    "patch_extract", "patch_merging",
  ]
}
