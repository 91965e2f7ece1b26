import Kernels

/// A rewrite of the graph that leaves every exposed value as it is.
protocol Pass: SendableMetatype {
  /// Whether anything has changed.
  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool
}

struct PassContext {
  let pool: ThreadPool
  let kernels: any KernelTable.Type
  let convolution: ConvolutionAlgorithm

  var channelBlock: Int { kernels.channelBlock }
}

/// The passes that are repeated, in the order in which they run.
let passes: [any Pass.Type] = [
  IdentityElimination.self, ConstantFolding.self, DeadCode.self, PaddingFusion.self,
  AffineFusion.self, ElementwiseChaining.self, SwishFusion.self, ResidualFusion.self,
  CropFusion.self, ActivationFusion.self, PoolingFusion.self, DeadCode.self,
]

/// Passes that run once, when the others have nothing more to do: they choose operations that those
/// do not know.
let selections: [any Pass.Type] = [
  UpsampledSelection.self, PieceSelection.self, PlanarSelection.self, RowFunctionFusion.self,
  SeparableFusion.self,
]

/// The graph after all passes, repeated until none finds anything more to do.
func optimize(
  _ graph: Graph, pool: ThreadPool, kernels: any KernelTable.Type, convolution: ConvolutionAlgorithm
) throws -> Graph {
  var graph = graph
  let context = PassContext(pool: pool, kernels: kernels, convolution: convolution)
  var changed = true
  while changed {
    changed = false
    for pass in passes where try pass.run(&graph, context) { changed = true }
  }
  for pass in selections { _ = try pass.run(&graph, context) }
  return graph
}
