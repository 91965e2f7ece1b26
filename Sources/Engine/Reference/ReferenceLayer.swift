import CoreMLModel
import CustomLayers
import TensorCore

/// The plain twin of one type of layer: its textbook formula in double precision, on dense row-major
/// arrays. It is what the engine's kernels are compared with, and it is never optimised.
protocol ReferenceLayer: LayerParameters {
  /// The outputs for `inputs`.
  /// - Throws: `ModelError` where the inputs do not fit the parameters.
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor]
}

/// What the formulas need beside a layer's own parameters.
struct ReferenceSettings {
  /// Whether `forgetBias` of an LSTM adds 1. The specification says so; files of the reference
  /// Keras converter set it although their bias already holds the 1, and give Keras' numbers only
  /// where it is ignored.
  var addsForgetBias = false
  /// The classes that implement custom layers.
  var customLayers = CustomLayerRegistry()
  /// The objects that have been made of them, and whose turn it is.
  let instances = CustomLayerInstances()
  var layerIndex = 0
}

/// Every type of layer that has a reference twin, in the specification's order.
let referenceLayerTypes: [any ReferenceLayer.Type] = [
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

extension ReferenceLayer {
  /// The outputs for inputs of any rank, which layers of planes see as `[Seq, Batch, C, H, W]`.
  func exactReferenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    guard Self.usesFiveAxes, inputs.contains(where: { $0.shape.count != 5 }) else {
      return try referenceOutputs(inputs, settings)
    }
    let shapes = try blobShapes(inputs.map(\.shape))
    let planes = try inputs.map {
      $0.reshaped(try BlobRank.fiveAxes($0.shape, vectorRank: Self.vectorRank))
    }
    return zip(try referenceOutputs(planes, settings), shapes).map { $0.reshaped($1) }
  }

  /// The shape of the only output; checks the inputs.
  func outputShape(_ inputs: [ReferenceTensor]) throws -> [Int] {
    let shapes = try outputShapes(inputs.map(\.shape))
    guard let shape = shapes.first else {
      throw ModelError(.internal, "a \(typeName) layer has no output")
    }
    return shape
  }
}
