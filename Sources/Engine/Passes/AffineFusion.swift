/// Merges a scale and bias per channel (batch normalization, scale, bias, linear) into the weights
/// and bias of the preceding convolution or dense layer, unless that layer already has an
/// activation. Two such layers in a row become one.
enum AffineFusion: Pass {
  static let name = "affine-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    try fuse(&graph) { producer, node, channels in
      guard let elementwise = node.operation as? ElementwiseOperation,
        let (scale, bias) = elementwise.function.affineParameters(channels: channels)
      else { return nil }
      switch producer.operation {
      case var convolution as ConvolutionOperation
      where convolution.weights.activation == nil && !convolution.hasResidual
        && !convolution.poolsMaximum:
        convolution.weights.apply(scale: scale, bias: bias)
        return convolution
      case var linear as LinearOperation
      where linear.convolution.weights.activation == nil && !linear.convolution.hasResidual
        && !elementwise.function.isPerChannel:
        let outputs = linear.convolution.weights.outputs
        guard let (scale, bias) = elementwise.function.affineParameters(channels: outputs) else {
          return nil
        }
        linear.convolution.weights.apply(scale: scale, bias: bias)
        return linear
      case var transposed as TransposedConvolutionOperation
      where transposed.weights.activation == nil:
        transposed.weights.apply(scale: scale, bias: bias)
        return transposed
      case var dense as DenseOperation where dense.activation == nil:
        guard try dense.apply(scale: scale, bias: bias) else { return nil }
        return dense
      case let before as ElementwiseOperation:
        guard let (first, offset) = before.function.affineParameters(channels: channels) else {
          return nil
        }
        let combined = zip(scale, first).map { Float($0 * $1) }
        let shifted = zip(zip(scale, offset), bias).map { Float($0.0 * $0.1 + $1) }
        return ElementwiseOperation(function: .affine(scale: combined, bias: shifted))
      default: return nil
      }
    }
  }
}
