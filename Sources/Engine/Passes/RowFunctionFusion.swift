/// Lets convolutions that write planes apply element functions and average each plane while a row
/// is still in the first-level cache.
enum RowFunctionFusion: Pass {
  static let name = "row-function-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    var changed = false
    while try fuse(&graph, { producer, node, _ in combined(producer, node.operation) }) {
      changed = true
    }
    return changed
  }

  private static func combined(
    _ producer: Graph.Node, _ operation: any NodeOperation
  ) -> (any NodeOperation)? {
    switch (producer.operation, operation) {
    case (var convolution as PieceSumConvolutionOperation, let next as ElementwiseOperation):
      convolution.functions.append(next.function)
      return convolution
    case (var convolution as PlanarConvolutionOperation, let next as ElementwiseOperation)
    where !convolution.isAveraged:
      convolution.functions.append(next.function)
      return convolution
    case (var convolution as PlanarConvolutionOperation, let pooling as PoolingOperation)
    where !convolution.isAveraged && pooling.isGlobalAverage:
      convolution.isAveraged = true
      return convolution
    default: return nil
    }
  }
}

extension PoolingOperation {
  /// Whether each plane is reduced to its average.
  var isGlobalAverage: Bool { function == .average && isGlobal }
}
