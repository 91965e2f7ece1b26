import Kernels
import TensorCore

/// Runs a plan in one arena.
final class Executor: @unchecked Sendable {
  // `@unchecked`: one prediction at a time writes to the arena; the network ensures that.
  private let plan: Plan
  private let pool: ThreadPool
  private let hooks: EngineHooks
  private let arena: AlignedBuffer
  /// Indexed by step; nil except for inputs and outputs.
  private let transfers: [Transfer?]

  /// Converts a caller's row-major tensor to a blob or back.
  private struct Transfer {
    var blob: Operand
    var converter: LayoutConverter
  }

  var arenaBytes: Int { plan.arenaBytes }

  /// Whether equal inputs always give equal results.
  var isRepeatable: Bool { plan.graph.nodes.allSatisfy(\.operation.isRepeatable) }

  /// The same steps with the same weights, in another arena.
  func copy(pool: ThreadPool) throws -> Executor {
    try Executor(plan, pool: pool, hooks: hooks)
  }

  init(_ plan: Plan, pool: ThreadPool, hooks: EngineHooks) throws {
    self.plan = plan
    self.pool = pool
    self.hooks = hooks
    arena = try AlignedBuffer(checkedByteCount: plan.arenaBytes)
    transfers = try plan.actions.map { action in
      switch action {
      case .input(let index, let id):
        let blob = plan.operand(id)
        let array = try BlobLayout(blob.layout.shape, block: 1)
        let scaling = try Self.scaling(plan.graph.inputs[index], channels: array.shape.channels)
        return Transfer(
          blob: blob,
          converter: LayoutConverter(
            from: array, to: blob.layout, scaling: scaling, plan.kernels))
      case .output(_, let id):
        let blob = plan.operand(id)
        let array = try BlobLayout(blob.layout.shape, block: 1)
        return Transfer(
          blob: blob, converter: LayoutConverter(from: blob.layout, to: array, plan.kernels))
      case .node, .convert: return nil
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

  /// - Parameter inputs: one tensor for each input of the graph, of its shape.
  /// - Returns: one tensor for each exposed blob.
  func run(_ inputs: [Tensor], round: Int = 0) throws -> [Tensor] {
    try withExtendedLifetime(inputs) { try execute(inputs, round) }
  }

  private func execute(_ inputs: [Tensor], _ round: Int) throws -> [Tensor] {
    let arenaStart = arena.pointer.assumingMemoryBound(to: Float.self)
    let context = RunContext(
      arena: arenaStart, pool: pool,
      inputs: inputs.map { tensor in
        // Tensors always have elements.
        tensor.withUnsafeElements { $0.baseAddress ?? UnsafePointer(arenaStart) }
      }, round: round)
    var results = plan.graph.exposed.map { _ in Tensor(shape: [0]) }
    let clock = ContinuousClock()
    for (step, action) in plan.actions.enumerated() {
      let start = hooks.onStep == nil ? nil : clock.now
      switch action {
      case .input(let index, _): load(inputs[index], index, transfers[step], context)
      case .output(let index, let id):
        results[index] = try store(
          plan.graph.shape(plan.representations[id].value), transfers[step], context)
      case .node(let index, _, _):
        let node = plan.graph.nodes[index]
        try node.inErrors { try plan.bodies[step]?(context) }
      case .convert: try plan.bodies[step]?(context)
      }
      if let start, let onStep = hooks.onStep {
        let seconds = (clock.now - start) / .seconds(1)
        onStep(StepRecord(step: plan.descriptions[step], seconds: seconds))
      }
    }
    return results
  }

  private func load(
    _ tensor: Tensor, _ index: Int, _ transfer: Transfer?, _ context: RunContext
  ) {
    guard let transfer else { return }
    let target = context.pointer(transfer.blob)
    func convert(_ source: UnsafePointer<Float>) {
      context.parallel(transfer.converter.units, writing: transfer.blob) {
        transfer.converter.run($0, source, target)
      }
    }
    let mean = plan.graph.inputs[index].preprocessing?.mean ?? []
    tensor.withUnsafeElements { elements in
      guard let source = elements.baseAddress else { return }
      if mean.isEmpty { return convert(source) }
      // Mean images are rare, so the difference is computed in a copy.
      var difference = [Float](repeating: 0, count: elements.count)
      for position in difference.indices {
        difference[position] = source[position] - mean[position % mean.count]
      }
      difference.withUnsafeBufferPointer { values in
        if let values = values.baseAddress { convert(values) }
      }
    }
  }

  private func store(
    _ shape: Shape, _ transfer: Transfer?, _ context: RunContext
  ) throws -> Tensor {
    try Tensor(checkedShape: shape.dimensions) { elements in
      guard let transfer, let target = elements.baseAddress else { return }
      let source = context.pointer(transfer.blob)
      context.pool.forEach(transfer.converter.units) {
        transfer.converter.run($0, source, target)
      }
    }
  }
}
