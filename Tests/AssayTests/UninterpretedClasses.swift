/// Layer classes that a converter supports, but the interpreter of its framework lacks.
enum UninterpretedClasses {
  static let keras: Set<String> = [
    "AnchorBoxes", "Anchors", "AttLayer", "AttentionWithContext", "AutoContrast", "ClipBoxes",
    "CompatibleExtractPatches", "EmbeddingRet", "EmbeddingSim",
    "EmbeddingSimilarity",
    "ExpLogitScale", "Extract", "FNetEncoder", "FeedForward", "InstanceNormalization", "MixerBlock",
    "MlpPairwisePositionalEmbedding", "MultiHeadPositionalEmbedding",
    "MultiHeadRelativePositionalEmbedding", "OctaveConv2D",
    "PatchConv2DWithResampleWeights",
    "PixelShuffler", "PositionEmbedding", "PositionalEncodingFourier", "RandomCrop", "RegressBoxes",
    "RelativePositionalEmbedding", "ReluWeightedSum", "RotaryEmbedding",
    "ScaledDotProductAttention",
    "ScaledStandardizedConv2D", "SeqSelfAttention", "SeqWeightedAttention", "SinePositionEncoding",
    "SlicingOpLambda",
    "SpectralNormalization", "SwinTransformerBlock", "TCN", "TFOpLambda", "TensorFlowOpLayer",
    "TokenEmbedding", "TransformerDecoder", "TransformerEncoder", "TrigPosEmbedding", "ViTEncoder",
    "ViTPatchingAndEmbedding", "WindowAttentionMask", "patch_embedding", "patch_expanding",
    "patch_extract", "patch_merging",
  ]
}
