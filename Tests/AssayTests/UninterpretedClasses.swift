/// Layer classes that a converter knows and the interpreter of its framework lacks.
enum UninterpretedClasses {
  static let keras: Set<String> = [
    "AddPositionEmbs", "AnchorBoxes", "Anchors", "AttLayer", "AttentionWithContext", "AutoContrast",
    "BiasLayer", "ChannelAffine",
    "ClassToken", "ClipBoxes", "CompatibleExtractPatches", "ConvLSTM1D", "ConvLSTM2D",
    "EmbeddingRet", "EmbeddingSim", "EmbeddingSimilarity", "ExpLogitScale", "Extract",
    "FNetEncoder", "FeedForward", "GroupQueryAttention", "GroupedQueryAttention",
    "HActivation", "HAdd", "HConv1D", "HConv1DBatchNorm", "HConv2D", "HConv2DBatchNorm", "HDense",
    "HDenseBatchNorm", "HQuantize", "Highway", "InstanceNormalization", "IntegerLookup",
    "KerasActivationQuantizationHolder", "KerasQuantizationWrapper", "MaxoutDense", "MixerBlock",
    "MlpPairwisePositionalEmbedding", "MultiHeadPositionalEmbedding",
    "MultiHeadRelativePositionalEmbedding", "OctaveConv2D", "PAveragePooling1D",
    "PAveragePooling2D", "PConcatenate", "PDropout", "PFlatten", "PMaxPooling1D", "PMaxPooling2D",
    "PPermute", "PReshape", "PZeroPadding1D", "PZeroPadding2D", "ParametricSoftplus",
    "PatchConv2DWithResampleWeights", "PositionEmbedding", "PositionalEmbedding",
    "PositionalEncodingFourier", "QActivation", "QAveragePooling2D", "QBatchNormalization",
    "QConv1D", "QConv2D", "QConv2DBatchnorm", "QConv2DTranspose", "QDense", "QDepthwiseConv2D",
    "QDepthwiseConv2DBatchnorm", "QGlobalAveragePooling2D", "QSeparableConv1D", "QSeparableConv2D",
    "RandomCrop", "RegressBoxes", "RelativePositionalEmbedding", "ReluWeightedSum", "Resizing",
    "ReversibleEmbedding", "SReLU", "ScaledDotProductAttention", "ScaledStandardizedConv2D",
    "SeqSelfAttention", "SeqWeightedAttention", "SlicingOpLambda", "SpectralNormalization",
    "SwinTransformerBlock", "TCN", "TokenEmbedding", "TFOpLambda", "TensorFlowOpLayer",
    "TokenAndPositionEmbedding",
    "TransformerBlock", "TransformerDecoder", "TransformerEncoder", "TrigPosEmbedding",
    "ViTEncoder", "ViTPatchingAndEmbedding", "WindowAttentionMask", "ZeroInitGain",
    "patch_embedding", "patch_expanding", "patch_extract", "patch_merging",
  ]
}
