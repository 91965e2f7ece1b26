import Kernels
import TensorCore

/// Runs a plan in one arena.
final class Executor: @unchecked Sendable {
  // `@unchecked`: only one prediction at a time writes to the arena, which the network ensures.
  private let plan: Plan
  private let pool: ThreadPool
  private let hooks: EngineHooks
  private let isTimed: Bool
  private let arena: AlignedBuffer
  private let steps: [Step]

  /// The executable part of a step, and no more, so that steps of few elements cost little.
  private enum Step {
    case load(Transfer)
    case run(StepBody)
    case store(Transfer)
  }

  /// Converts a caller's row-major tensor to a blob, or vice versa.
  private final class Transfer: Sendable {
    /// The tensor's position among the graph's inputs or exposed blobs.
    let index: Int
    let blob: Operand
    let shape: [Int]
    let converter: LayoutConverter
    let units: Int
    /// A mean image to subtract from the tensor.
    let mean: [Float]

    init(
      _ index: Int, _ blob: Operand, _ shape: [Int], _ converter: LayoutConverter,
      mean: [Float] = []
    ) {
      (self.index, self.blob, self.shape, self.converter) = (index, blob, shape, converter)
      self.mean = mean
      units = converter.units
    }
  }

  var arenaBytes: Int { plan.arenaBytes }

  /// Whether equal inputs always give equal results.
  var isRepeatable: Bool { plan.graph.nodes.allSatisfy(\.operation.isRepeatable) }

  /// An executor for the same steps and weights, with another arena.
  func copy(pool: ThreadPool) throws -> Executor { try Executor(plan, pool: pool, hooks: hooks) }

  init(_ plan: Plan, pool: ThreadPool, hooks: EngineHooks) throws {
    (self.plan, self.pool, self.hooks) = (plan, pool, hooks)
    isTimed = hooks.onStep != nil
    arena = try AlignedBuffer(checkedByteCount: plan.arenaBytes)
    steps = try zip(plan.actions, plan.bodies).map { action, body in
      switch action {
      case .input(let index, let id):
        let blob = plan.operand(id)
        let array = try BlobLayout(blob.layout.shape, block: 1)
        let input = plan.graph.inputs[index]
        let scaling = try Self.scaling(input, channels: array.shape.channels)
        return .load(
          Transfer(
            index, blob, plan.shape(id),
            LayoutConverter(from: array, to: blob.layout, scaling: scaling, kernels: plan.kernels),
            mean: input.preprocessing?.mean ?? []))
      case .output(let index, let id):
        let blob = plan.operand(id)
        let array = try BlobLayout(blob.layout.shape, block: 1)
        return .store(
          Transfer(
            index, blob, plan.shape(id),
            LayoutConverter(from: blob.layout, to: array, kernels: plan.kernels)))
      case .node, .convert: return .run(body ?? { _ in })
      }
    }
  }

  /// The scale and bias of an image; for a mean image, `load` subtracts it instead.
  private static func scaling(_ input: Graph.Input, channels: Int) throws -> InputScaling? {
    guard let preprocessing = input.preprocessing, preprocessing.mean.isEmpty else { return nil }
    return InputScaling(
      scale: try Constant([Float](repeating: preprocessing.scale, count: channels)),
      bias: try Constant(preprocessing.bias))
  }

  /// - Parameter inputs: one tensor per input of the graph, with its shape.
  /// - Returns: one tensor per exposed blob.
  func run(_ inputs: [Tensor]) throws -> [Tensor] {
    var results = [Tensor?](repeating: nil, count: plan.graph.exposed.count)
    try run(inputs, positions: Array(inputs.indices), into: &results)
    return results.compactMap(\.self)
  }

  /// - Parameters:
  ///   - blobs: the tensors at `positions` are those for the inputs of the graph, of their shapes.
  ///   - round: how many runs of loops the prediction has begun.
  ///   - results: becomes one tensor for each exposed blob. A tensor of its shape that nobody shares
  ///     is overwritten.
  func run(
    _ blobs: [Tensor?], positions: [Int], round: Int = 0, into results: inout [Tensor?]
  ) throws {
    try withExtendedLifetime(blobs) {
      try withUnsafeTemporaryAllocation(
        of: UnsafePointer<Float>.self, capacity: positions.count
      ) { inputs in
        let arenaStart = arena.pointer.assumingMemoryBound(to: Float.self)
        for (index, position) in positions.enumerated() {
          // Tensors always have elements.
          let start = blobs[position]?.withUnsafeElements { $0.baseAddress }
          inputs.initializeElement(at: index, to: start ?? UnsafePointer(arenaStart))
        }
        let context = RunContext(
          arena: arenaStart, pool: pool, inputs: UnsafeBufferPointer(inputs), round: round)
        try isTimed ? executeTimed(context, &results) : execute(context, &results)
        try TimeBudget.require()
      }
    }
  }

  private func execute(_ context: RunContext, _ results: inout [Tensor?]) throws {
    for index in steps.indices { try execute(index, context, &results) }
  }

  private func executeTimed(_ context: RunContext, _ results: inout [Tensor?]) throws {
    let clock = ContinuousClock()
    for index in steps.indices {
      let start = clock.now
      try execute(index, context, &results)
      let seconds = (clock.now - start) / .seconds(1)
      hooks.onStep?(StepRecord(step: plan.descriptions[index], seconds: seconds))
    }
  }

  @inline(__always)
  private func execute(
    _ index: Int, _ context: RunContext, _ results: inout [Tensor?]
  ) throws {
    // After the deadline, the units of a step are skipped.
    try TimeBudget.require()
    switch steps[index] {
    case .load(let transfer): load(transfer, context)
    case .run(let body):
      do { try body(context) } catch {
        guard case .node(let node, _, _) = plan.actions[index] else { throw error }
        try plan.graph.nodes[node].inErrors { throw error }
      }
    case .store(let transfer): try store(transfer, context, &results[transfer.index])
    }
  }

  private func load(_ transfer: Transfer, _ context: RunContext) {
    let target = context.pointer(transfer.blob)
    func convert(_ source: UnsafePointer<Float>) {
      context.parallel(transfer.units, writing: transfer.blob) {
        transfer.converter.run($0, source, target)
      }
    }
    let source = context.inputs[transfer.index]
    let mean = transfer.mean
    if mean.isEmpty { return convert(source) }
    // Mean images are rare, so the difference is computed in a copy.
    var difference = [Float](repeating: 0, count: transfer.blob.layout.shape.count)
    for position in difference.indices {
      difference[position] = source[position] - mean[position % mean.count]
    }
    difference.withUnsafeBufferPointer { values in
      if let values = values.baseAddress { convert(values) }
    }
  }

  private func store(_ transfer: Transfer, _ context: RunContext, _ result: inout Tensor?) throws {
    func fill(_ elements: UnsafeMutableBufferPointer<Float>) {
      guard let target = elements.baseAddress else { return }
      let source = context.pointer(transfer.blob)
      context.pool.forEach(transfer.units) { transfer.converter.run($0, source, target) }
    }
    if result?.shape == transfer.shape, result?.withUnsharedElements(fill) == true { return }
    result = try Tensor(checkedShape: transfer.shape, fill)
  }
}
