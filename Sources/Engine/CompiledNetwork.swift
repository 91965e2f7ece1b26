import CoreMLModel
import Kernels
import Synchronization
import TensorCore

/// A neural network ready to run: shapes inferred, layers fused, weights packed, memory planned.
///
/// Compile once, predict many times. Multithreaded predictions of one network run one after the
/// other; single-threaded ones run concurrently. The results are the same.
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
  package let arenaBytes: Int
  /// Bytes of packed weights, without weights that are read in place from the model's file.
  package let packedWeightBytes: Int
  /// Whether everything is planned: no size and no control flow depends on values.
  package let isFixed: Bool
  /// Whether equal inputs always give equal results: without custom layers and random numbers.
  package let isRepeatable: Bool

  private let compiler: RunCompiler
  private let interface: GraphBuilder.Interface
  private let first: RunPlan
  private let lock = Mutex(())
  /// Idle executors for single-threaded predictions.
  private let singles = Mutex<[Executor]>([])
  private let singleThread = ThreadPool(threadCount: 1)

  /// - Throws: `ModelError` with the layer and the field; `.unsupported` once for all
  /// unsupported layers, and once for all custom layers without an implementation;
  /// `.outOfMemory` if weights and working memory would exceed `options.maxMemory`.
  package init(model: Model, options: CompileOptions = CompileOptions()) throws {
    var compilation = try Compilation(model, options)
    interface = compilation.interface
    first = try compilation.firstPlan()
    compiler = compilation.compiler
    isFixed = compilation.isFixed
    isRepeatable = isFixed && first.executor?.isRepeatable ?? true
    inputs = interface.inputs
    outputs = interface.outputs
    keptBlobs = interface.kept
    steps = first.steps
    threadCount = compiler.context.pool.threadCount
    instructionSet = compilation.instructionSet
    arenaBytes = first.executor?.arenaBytes ?? 0
    packedWeightBytes = steps.reduce(0) { $0 + $1.weightBytes }
    if options.usesIntegers, isFixed, !steps.contains(where: \.usesIntegers) {
      throw Self.lacksCodes
    }
  }

  /// The error of a model without anything to compute with integers.
  package static let lacksCodes = ModelError(
    .unsupported, "fast arithmetic needs convolutions whose weights have linear codes",
    hint: "`assay compress` with \(setting: "mode") linear_symmetric writes a model with such codes"
  )

  /// The nodes of the graph after the first run of `pass`, or after `Passes.lowering`.
  ///
  /// - Throws: `.usage` if no pass has the name; whatever `init` throws.
  package static func steps(
    of model: Model, options: CompileOptions, after pass: String
  ) throws -> [StepDescription] {
    if pass != Passes.lowering { try Passes.check([pass]) }
    let compilation = try Compilation(model, options)
    var graph = compilation.builder.graph
    try Passes.run(&graph, compilation.compiler.context, without: options.withoutPasses, upTo: pass)
    return graph.descriptions
  }

  /// Runs the network once.
  ///
  /// - Parameter inputs: a tensor for each input feature, `[Seq, Batch, C, H, W]` or the exact
  ///   shape for exact mapping; images as raw values 0 to 255 in the feature's order of colors,
  ///   before scaler or mean image.
  /// - Returns: the output features and the kept blobs, with the blobs' shapes.
  /// - Throws: `ModelError` with code `.mismatch` if an input is missing, unknown or has another
  ///   shape; whatever a custom layer throws, with the name of the layer.
  package func predict(_ inputs: [String: Tensor]) throws -> [String: Tensor] {
    let tensors = try checked(inputs)
    if threadCount == 1, isRepeatable {
      if let results = try lock.withLockIfAvailable({ _ in try run(tensors) }) {
        return named(results)
      }
      // Waits if there is no memory for another arena.
      if let executor = try? idleExecutor() { return try run(tensors, executor) }
    }
    return named(try lock.withLock { _ in try run(tensors) })
  }

  /// Runs the network once on the caller's thread. Other threads can do the same concurrently, each
  /// with its own working memory.
  ///
  /// - Precondition: `isRepeatable`
  /// - Throws: what `predict` throws; `.outOfMemory` if the working memory exceeds the budget.
  package func predictOnOneThread(_ inputs: [String: Tensor]) throws -> [String: Tensor] {
    let tensors = try checked(inputs)
    guard let executor = try idleExecutor() else { return [:] }
    return try run(tensors, executor)
  }

  private func idleExecutor() throws -> Executor? {
    try singles.withLock { $0.popLast() } ?? first.executor?.copy(pool: singleThread)
  }

  private func run(_ tensors: [Tensor], _ executor: Executor) throws -> [String: Tensor] {
    defer { singles.withLock { $0.append(executor) } }
    return named(try executor.run(tensors))
  }

  /// The input tensors in order.
  private func checked(_ inputs: [String: Tensor]) throws -> [Tensor] {
    for name in inputs.keys.sorted() where !self.inputs.contains(where: { $0.name == name }) {
      throw ModelError.unknown("input", name, among: self.inputs.map(\.name))
    }
    return try self.inputs.map { feature in
      guard let tensor = inputs[feature.name] else {
        throw ModelError(.mismatch, "no value for input '\(feature.name)'")
      }
      try require(
        tensor.shape == feature.shape, .mismatch,
        "input '\(feature.name)' has the shape \(tensor.shape), but the network takes \(feature.shape)"
      )
      return tensor
    }
  }

  private func named(_ results: [Tensor?]) -> [String: Tensor] {
    var named: [String: Tensor] = [:]
    for (feature, tensor) in zip(outputs + keptBlobs, results) {
      named[feature.name] = tensor.map { $0.shape.isEmpty ? $0.reshaped([1]) : $0 }
    }
    return named
  }

  /// The results; nil for blobs that were never written.
  private func run(_ tensors: [Tensor]) throws -> [Tensor?] {
    if isFixed { return try first.executor?.run(tensors) ?? [] }
    var run = ProgramRun(compiler)
    try run.run(first: first, tensors)
    let results = interface.blobs.map { run.blob($0) }
    for (feature, result) in zip(outputs, results) where result == nil {
      throw ModelError(
        .malformed, "no layer has produced the output '\(feature.name)'",
        field: "description.output")
    }
    var seen = interface
    try seen.setShapes { results[$0]?.shape ?? [] }
    return results
  }
}

/// The state of a compilation, from the document to the plan.
private struct Compilation {
  /// The graph of the first run of layers.
  private(set) var builder: GraphBuilder
  private(set) var interface = GraphBuilder.Interface()
  let compiler: RunCompiler
  let instructionSet: InstructionSet
  private let run: LayerSequence
  private let waiting: [PlacedLayer]

  /// Empty results are not in the graph.
  var isFixed: Bool {
    waiting.isEmpty && compiler.program.statements.count == 1
      && !interface.blobs.contains { builder.empty[$0] != nil }
  }

  init(_ model: Model, _ options: CompileOptions) throws {
    try Passes.check(options.withoutPasses.sorted())
    let base = try GraphBuilder(model: model, options: options)
    builder = base
    let pool = ThreadPool(threadCount: options.threads ?? ThreadPool.availableCores)
    instructionSet = try options.instructionSet ?? InstructionSet.selected()
    try require(
      instructionSet.isAvailable, .usage,
      "this processor does not support '\(instructionSet.rawValue)'")
    let context = PassContext(
      pool: pool, kernels: instructionSet.kernels,
      tiles: options.tiles ?? instructionSet.tiles,
      convolution: try options.convolution ?? ConvolutionAlgorithm.selected(),
      usesIntegers: options.usesIntegers)
    try require(
      !options.usesIntegers || instructionSet.multipliesBytes, .unsupported,
      "this processor lacks the instructions of fast arithmetic (VNNI)",
      hint: "ASSAY_KERNELS=baseline computes the same sums slowly")
    try builder.addInputs(&interface)
    try builder.addResults(&interface)
    let program = try NetworkProgram(
      builder.layers, inputs: interface.inputs.map(\.name), results: Set(interface.blobs))
    guard case .run(let run)? = program.statements.first else {
      throw ModelError(.internal, "a program without a first run")
    }
    self.run = run
    compiler = RunCompiler(program: program, options: options, context: context, builder: base)
    waiting = try builder.add(run.layers, context)
    if isFixed { try builder.exposeResults(&interface) }
  }

  mutating func firstPlan() throws -> RunPlan {
    isFixed ? try compiler.fixedPlan(builder.graph) : try compiler.firstPlan(&builder, run, waiting)
  }
}
