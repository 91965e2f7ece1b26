/// Every type of layer that the document reads, in the specification's order. This is the one list
/// of this stage; importers, engine and documentation each have one of their own.
package let layerTypes: [any LayerParameters.Type] = encodedLayerTypes.map { $0 }

/// The same with what reads and writes them: a conformance that is asked for at run time takes long
/// to find.
let encodedLayerTypes: [any (LayerParameters & EncodedMessage).Type] = [
  Convolution.self, Pooling.self, Activation.self, InnerProduct.self, Embedding.self,
  Batchnorm.self, MeanVarianceNormalize.self, L2Normalize.self, Softmax.self, LRN.self, Crop.self,
  Padding.self, Upsample.self, ResizeBilinear.self, CropResize.self, Unary.self, Add.self,
  Multiply.self, Average.self, Scale.self, Bias.self, Max.self, Min.self, DotProduct.self,
  Reduce.self, LoadConstant.self, Reshape.self, Flatten.self, Permute.self, Concat.self,
  Split.self, SequenceRepeat.self, ReorganizeData.self, Slice.self, SimpleRecurrent.self,
  GRU.self, UniDirectionalLSTM.self, BiDirectionalLSTM.self, Custom.self,
  RangeStatic.self, Clip.self, Ceil.self, Floor.self, Sign.self, Round.self, Exp2.self, Sin.self,
  Cos.self, Tan.self, Asin.self, Acos.self, Atan.self, Sinh.self, Cosh.self, Tanh.self, Asinh.self,
  Acosh.self, Atanh.self, Erf.self, Gelu.self, Equal.self, NotEqual.self, LessThan.self,
  LessEqual.self, GreaterThan.self, GreaterEqual.self, LogicalOr.self, LogicalXor.self,
  LogicalNot.self, LogicalAnd.self, ModBroadcastable.self, MinBroadcastable.self,
  MaxBroadcastable.self, AddBroadcastable.self, PowBroadcastable.self, DivideBroadcastable.self,
  FloorDivBroadcastable.self, MultiplyBroadcastable.self, SubtractBroadcastable.self, Tile.self,
  Stack.self, Gather.self, GatherND.self, SoftmaxND.self, GatherAlongAxis.self, Reverse.self,
  SplitND.self, ConcatND.self, Transpose.self, SliceStatic.self, SlidingWindows.self, TopK.self,
  ArgMin.self, ArgMax.self, EmbeddingND.self, BatchedMatMul.self, GetShape.self,
  LoadConstantND.self, FillLike.self, FillStatic.self, BroadcastToLike.self, BroadcastToStatic.self,
  Squeeze.self, ExpandDims.self, FlattenTo2D.self, ReshapeLike.self, ReshapeStatic.self,
  RankPreservingReshape.self, ConstantPad.self, ReduceL1.self, ReduceL2.self, ReduceMax.self,
  ReduceMin.self, ReduceSum.self, ReduceProd.self, ReduceMean.self, ReduceLogSum.self,
  ReduceSumSquare.self, ReduceLogSumExp.self, MatrixBandPart.self, LowerTriangular.self,
  UpperTriangular.self, WhereBroadcastable.self, LayerNormalization.self,
  NonMaximumSuppression.self, OneHot.self, CumSum.self, ClampedReLU.self, ArgSort.self,
  Pooling3D.self, GlobalPooling3D.self, Convolution3D.self,
]
