import CoreMLModel
import Kernels
import Synchronization
import TensorCore

/// A neural network ready to run: shapes inferred, layers fused, weights packed, memory planned.
///
/// Compile once, predict many times. Predictions of one network run one after the other, each on
/// all of the network's threads; the results do not depend on the number of threads.
package final class CompiledNetwork: Sendable {
  package let inputs: [NetworkFeature]
  package let outputs: [NetworkFeature]
  /// Blobs kept because of `CompileOptions.keep`, in order of execution.
  package let keptBlobs: [NetworkFeature]
  /// The steps of a prediction, in order.
  package let steps: [StepDescription]
  package let threadCount: Int
  package let instructionSet: InstructionSet
  /// Bytes of planned working memory.
  package var arenaBytes: Int { executor.arenaBytes }
  /// Bytes of weights packed for the kernels. Weights read in place from the model file do not
  /// count.
  package let packedWeightBytes: Int

  private let executor: Executor
  private let lock = Mutex(())

  /// - Throws: `ModelError` with the layer and the field; `.unsupported` once for all
  /// unsupported layers, and once for all custom layers without an implementation;
  /// `.outOfMemory` if weights and working memory would exceed `options.maxMemory`.
  package init(model: Model, options: CompileOptions = CompileOptions()) throws {
    let compilation = try Compilation(model, options)
    let pool = compilation.context.pool
    let interface = compilation.interface
    let plan = try Plan(
      compilation.graph, pool: pool, kernels: compilation.context.kernels,
      maxMemory: options.maxMemory)
    executor = try Executor(plan, pool: pool, hooks: options.hooks)
    inputs = interface.inputs
    outputs = interface.outputs
    keptBlobs = interface.kept
    steps = plan.descriptions
    threadCount = pool.threadCount
    instructionSet = compilation.instructionSet
    packedWeightBytes = steps.reduce(0) { $0 + $1.weightBytes }
  }

  /// The nodes of the graph after the first run of a pass, or after `Passes.lowering`.
  ///
  /// - Throws: `.usage` if no pass has the name; whatever `init` throws.
  package static func steps(
    of model: Model, options: CompileOptions, after pass: String
  ) throws -> [StepDescription] {
    if pass != Passes.lowering { try Passes.check([pass]) }
    return try Compilation(model, options, upTo: pass).graph.descriptions
  }

  /// Runs the network once.
  ///
  /// - Parameter inputs: a tensor for each input feature, `[Seq, Batch, C, H, W]` or the exact
  ///   shape for exact mapping; images as raw values 0 to 255 in the feature's order of colors,
  ///   before scaler or mean image.
  /// - Returns: the output features and the kept blobs, of the blobs' shapes.
  /// - Throws: `ModelError` with code `.mismatch` if an input is missing, unknown or has another
  ///   shape; whatever a custom layer throws, with the name of the layer.
  package func predict(_ inputs: [String: Tensor]) throws -> [String: Tensor] {
    for name in inputs.keys.sorted() where !self.inputs.contains(where: { $0.name == name }) {
      throw ModelError(
        .mismatch, "the model has no input '\(name)'",
        hint: "its inputs are \(self.inputs.map { "'\($0.name)'" }.joined(separator: ", "))")
    }
    let tensors = try self.inputs.map { feature in
      guard let tensor = inputs[feature.name] else {
        throw ModelError(.mismatch, "no value for input '\(feature.name)'")
      }
      try require(
        tensor.shape == feature.shape, .mismatch,
        "input '\(feature.name)' has the shape \(tensor.shape), but the network takes \(feature.shape)"
      )
      return tensor
    }
    let results = try lock.withLock { _ in try executor.run(tensors) }
    var named: [String: Tensor] = [:]
    for (feature, tensor) in zip(outputs + keptBlobs, results) { named[feature.name] = tensor }
    return named
  }
}

/// Carries a network from the document to the plan.
private struct Compilation {
  let graph: Graph
  let interface: GraphBuilder.Interface
  let context: PassContext
  let instructionSet: InstructionSet

  /// - Parameter pass: the last pass to run; nil runs all.
  init(_ model: Model, _ options: CompileOptions, upTo pass: String? = nil) throws {
    try Passes.check(options.withoutPasses.sorted())
    var builder = try GraphBuilder(model: model, options: options)
    var (graph, interface) = try builder.build()
    let pool = ThreadPool(threadCount: options.threads ?? ThreadPool.availableCores)
    instructionSet = try options.instructionSet ?? InstructionSet.selected()
    try require(
      instructionSet.isAvailable, .usage,
      "this processor does not support '\(instructionSet.rawValue)'")
    context = PassContext(
      pool: pool, kernels: instructionSet.kernels,
      convolution: try options.convolution ?? ConvolutionAlgorithm.selected())
    try Passes.run(&graph, context, without: options.withoutPasses, upTo: pass)
    self.graph = graph
    self.interface = interface
  }
}
