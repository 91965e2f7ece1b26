import CoreMLModel
import Kernels
import TensorCore
import TestSupport

@testable import Engine

/// One run of the engine against the reference: a layer and the shapes of its inputs,
/// `[Seq, Batch, C, H, W]`, or exact ones of any rank.
struct LayerTrial {
  var layer: any LayerParameters
  var inputs: [[Int]]
  /// Bounds of the random inputs.
  var range: ClosedRange<Float> = -2...2
  /// The values of single inputs that are not random.
  var values: [Int: [Float]] = [:]
  /// Says in a failure which trial it was.
  var label: String

  /// Whether the network takes arrays as they are.
  var isExact: Bool {
    inputs.contains { $0.count != 5 } || type(of: layer).specificationVersion > 3
  }

  /// The same without the sequence axis, for networks of exact shapes; nil where it is in use or
  /// the type needs it.
  var withoutSequence: LayerTrial? {
    let shapes = inputs.map { Array($0.dropFirst()) }
    guard !isExact, !(layer is Custom), !inputs.isEmpty,
      inputs.allSatisfy({ $0.first == 1 }), (try? layer.blobShapes(shapes)) != nil
    else { return nil }
    return LayerTrial(label + ", rank 4", layer, shapes, range: range, values: values)
  }

  /// A custom layer's class has two outputs of the input's shape here.
  func outputShapes() throws -> [[Int]] {
    try layer is Custom ? inputs + inputs : layer.blobShapes(inputs)
  }

  init(
    _ label: String, _ layer: any LayerParameters, _ inputs: [[Int]],
    range: ClosedRange<Float> = -2...2, values: [Int: [Float]] = [:]
  ) {
    self.label = label
    self.layer = layer
    self.inputs = inputs
    self.range = range
    self.values = values
  }
}

/// A type of layer with trials of odd shapes and parameters.
protocol TestedLayer: LayerParameters {
  static func trials(_ random: inout SplitMix64) throws -> [LayerTrial]
}

/// Every type of layer whose engine implementation is compared with its reference, in the
/// specification's order.
let testedLayerTypes: [any TestedLayer.Type] = [
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

extension SplitMix64 {
  mutating func weights(_ count: Int, in range: ClosedRange<Float> = -1...1) -> Weights {
    Weights(values(count, in: range))
  }
}

extension ValidPadding {
  init(_ top: Int, _ bottom: Int, _ left: Int, _ right: Int) {
    self.init()
    paddingAmounts = BorderAmounts(top: top, bottom: bottom, left: left, right: right)
  }
}

extension SamePadding {
  init(_ mode: Mode) {
    self.init()
    asymmetryMode = mode
  }
}
