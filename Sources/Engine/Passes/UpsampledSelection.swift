/// Computes a 3 × 3 convolution after a twofold enlargement at the low resolution.
enum UpsampledSelection: Pass {
  static let name = "upsampled-selection"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    if context.convolution == .direct { return false }
    return try fuse(&graph) { producer, node, _ in
      guard let enlargement = producer.operation as? PlaneGatherOperation,
        let convolution = node.operation as? ConvolutionOperation,
        enlargement.rows.areDoubled, enlargement.columns.areDoubled, !convolution.hasResidual,
        !convolution.poolsMaximum, convolution.method != .integers
      else { return nil }
      let (weights, window) = (convolution.weights, convolution.window)
      guard weights.groups == 1, weights.inputs >= 8, weights.outputs >= 8,
        window.kernel == [3, 3], window.stride == [1, 1], window.dilation == [1, 1],
        window.start == [1, 1], window.end == [1, 1]
      else { return nil }
      return UpsampledConvolutionOperation(weights: weights, window: window)
    }
  }
}

extension [Int] {
  /// Whether the indices are 0, 0, 1, 1, 2, 2, …
  fileprivate var areDoubled: Bool { count % 2 == 0 && indices.allSatisfy { self[$0] == $0 / 2 } }
}
