import CoreMLModel

/// Every type of layer that the engine runs, in the specification's order. This is the one list of
/// this stage.
let engineLayerTypes: [any (EngineLayer & LayerParameters).Type] = [
  Convolution.self, Pooling.self, Activation.self, InnerProduct.self, Embedding.self,
  Batchnorm.self, MeanVarianceNormalize.self, L2Normalize.self, Softmax.self, LRN.self, Crop.self,
  Padding.self, Upsample.self, ResizeBilinear.self, CropResize.self, Unary.self, Add.self,
  Multiply.self, Average.self, Scale.self, Bias.self, Max.self, Min.self, DotProduct.self,
  Reduce.self, LoadConstant.self, Reshape.self, Flatten.self, Permute.self, Concat.self,
  Split.self, SequenceRepeat.self, ReorganizeData.self, Slice.self, SimpleRecurrent.self,
  GRU.self, UniDirectionalLSTM.self, BiDirectionalLSTM.self, Custom.self,
]
