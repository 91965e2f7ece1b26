import TensorCore

/// Every type of layer that Assay reads, in the specification's order. The engine, the reference
/// implementation and the tests find their layers in this list by protocol conformance.
package let layerTypes: [any LayerParameters.Type] = [
  Convolution.self, Pooling.self, Activation.self, InnerProduct.self, Embedding.self,
  Batchnorm.self, MeanVarianceNormalize.self, L2Normalize.self, Softmax.self, LRN.self, Crop.self,
  Padding.self, Upsample.self, ResizeBilinear.self, CropResize.self, Unary.self, Add.self,
  Multiply.self, Average.self, Scale.self, Bias.self, Max.self, Min.self, DotProduct.self,
  Reduce.self, LoadConstant.self, Reshape.self, Flatten.self, Permute.self, Concat.self,
  Split.self, SequenceRepeat.self, ReorganizeData.self, Slice.self, SimpleRecurrent.self, GRU.self,
  UniDirectionalLSTM.self, BiDirectionalLSTM.self, Custom.self, Copy.self, Branch.self, Loop.self,
  LoopBreak.self, LoopContinue.self, RangeStatic.self, RangeDynamic.self, Clip.self, Ceil.self,
  Floor.self, Sign.self, Round.self, Exp2.self, Sin.self, Cos.self, Tan.self, Asin.self, Acos.self,
  Atan.self, Sinh.self, Cosh.self, Tanh.self, Asinh.self, Acosh.self, Atanh.self, Erf.self,
  Gelu.self, Equal.self, NotEqual.self, LessThan.self, LessEqual.self, GreaterThan.self,
  GreaterEqual.self, LogicalOr.self, LogicalXor.self, LogicalNot.self, LogicalAnd.self,
  ModBroadcastable.self, MinBroadcastable.self, MaxBroadcastable.self, AddBroadcastable.self,
  PowBroadcastable.self, DivideBroadcastable.self, FloorDivBroadcastable.self,
  MultiplyBroadcastable.self, SubtractBroadcastable.self, Tile.self, Stack.self, Gather.self,
  Scatter.self, GatherND.self, ScatterND.self, SoftmaxND.self, GatherAlongAxis.self,
  ScatterAlongAxis.self, Reverse.self, ReverseSeq.self, SplitND.self, ConcatND.self,
  Transpose.self, SliceStatic.self, SliceDynamic.self, SlidingWindows.self, TopK.self, ArgMin.self,
  ArgMax.self, EmbeddingND.self, BatchedMatMul.self, GetShape.self, LoadConstantND.self,
  FillLike.self, FillStatic.self, FillDynamic.self, BroadcastToLike.self, BroadcastToStatic.self,
  BroadcastToDynamic.self, Squeeze.self, ExpandDims.self, FlattenTo2D.self, ReshapeLike.self,
  ReshapeStatic.self, ReshapeDynamic.self, RankPreservingReshape.self, ConstantPad.self,
  RandomNormalLike.self, RandomNormalStatic.self, RandomNormalDynamic.self, RandomUniformLike.self,
  RandomUniformStatic.self, RandomUniformDynamic.self, RandomBernoulliLike.self,
  RandomBernoulliStatic.self, RandomBernoulliDynamic.self, CategoricalDistribution.self,
  ReduceL1.self, ReduceL2.self, ReduceMax.self, ReduceMin.self, ReduceSum.self, ReduceProd.self,
  ReduceMean.self, ReduceLogSum.self, ReduceSumSquare.self, ReduceLogSumExp.self,
  WhereNonZero.self, MatrixBandPart.self, LowerTriangular.self, UpperTriangular.self,
  WhereBroadcastable.self, LayerNormalization.self, NonMaximumSuppression.self, OneHot.self,
  CumSum.self, ClampedReLU.self, ArgSort.self, Pooling3D.self, GlobalPooling3D.self,
  SliceBySize.self, Convolution3D.self,
]

extension NeuralNetworkLayer {
  /// The parameters of a layer, of any type in the list.
  static let parametersField: Field<Self> = {
    let choice = Field<Self>.choice(
      \.parameters,
      layerTypes.map { option($0) },
      opaque: ({ OpaqueLayer($0) }, { ($0 as? OpaqueLayer)?.message }))
    return Field(
      choice.names, types: choice.types,
      read: { layer, reader in try inLayer(layer) { try choice.read(&layer, reader) } },
      write: { layer, writer in try inLayer(layer) { try choice.write(layer, writer) } })
  }()

  private static func inLayer(_ layer: Self, _ body: () throws -> Void) throws {
    do { try body() } catch var error as ModelError {
      // The first step of the path repeats the type of the layer.
      let path = error.field?.split(separator: ".", maxSplits: 1).map(String.init) ?? []
      error.field = path.count > 1 ? path[1] : nil
      throw error.inLayer(layer.name, class: path.first)
    }
  }

  /// Fields missing from the parameters' table are among the layer's unknown fields.
  private static func option<Layer: LayerParameters>(
    _ type: Layer.Type
  ) -> Choice<any LayerParameters> {
    let name = type.typeName
    return Choice(
      name: name, type: type,
      read: { reader in
        try inField(name) { try reader.nested(name).map { try Layer(fieldsOf: $0) } ?? Layer() }
      },
      write: { parameters, writer in
        guard let layer = parameters as? Layer else { return false }
        try inField(name) {
          let nested = try writer.nested(name)
          try layer.write(nested)
          try nested.finish()
        }
        return true
      })
  }
}
