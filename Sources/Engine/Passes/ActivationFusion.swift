/// Lets the preceding convolution or dense layer compute an activation while its results are still
/// in registers.
enum ActivationFusion: Pass {
  static let name = "activation-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    try fuse(&graph) { producer, node, _ in
      guard let function = (node.operation as? ElementwiseOperation)?.function, function.isFusible
      else { return nil }
      switch producer.operation {
      case var convolution as ConvolutionOperation
      where !convolution.poolsMaximum && convolution.weights.canFuse(function, context):
        convolution.weights.activation = function
        return convolution
      case var linear as LinearOperation
      where linear.convolution.weights.activation == nil && !function.isPerChannel:
        linear.convolution.weights.activation = function
        return linear
      case var transposed as TransposedConvolutionOperation
      where transposed.weights.canFuse(function, context):
        transposed.weights.activation = function
        return transposed
      case var dense as DenseOperation where dense.activation == nil:
        dense.activation = function
        return dense
      default: return nil
      }
    }
  }
}

extension ConvolutionWeights {
  fileprivate func canFuse(_ function: ScaledFunction, _ context: PassContext) -> Bool {
    activation == nil && path(block: context.channelBlock).hasEpilogue
      && (function.keepsZero || outputs % context.channelBlock == 0)
  }
}
