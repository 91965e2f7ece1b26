import Kernels

/// Lets a Winograd convolution store only the maximum of each 2 × 2 block of its results, if their
/// only reader is maximum pooling over such blocks.
enum PoolingFusion: Pass {
  static let name = "pooling-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    let before = graph
    return try fuse(&graph) { producer, node, _ in
      guard let pooling = node.operation as? PoolingOperation, pooling.halvesMaximum,
        var convolution = producer.operation as? ConvolutionOperation, !convolution.hasResidual,
        !convolution.poolsMaximum
      else { return nil }
      let output = before.shape(producer.outputs[0])
      // With few channels, the input may be in planes.
      guard convolution.weights.inputs > 8, output.height % 2 == 0, output.width % 2 == 0,
        convolution.window.kernel == [3, 3], case .winograd = convolution.method
      else { return nil }
      convolution.poolsMaximum = true
      return convolution
    }
  }
}

extension PoolingOperation {
  /// Whether each output is the maximum of 2 × 2 inputs, without overlap.
  fileprivate var halvesMaximum: Bool {
    function == .maximum
      && [rows, columns].allSatisfy { axis in
        axis.starts.indices.allSatisfy { axis.starts[$0] == 2 * $0 && axis.ends[$0] == 2 * $0 + 2 }
      }
  }
}
