import Kernels
import TensorCore

/// Runs a plan in one arena.
final class Executor: @unchecked Sendable {
  // `@unchecked`: the arena is written by one prediction at a time, which the network's lock sees to.
  private let plan: Plan
  private let pool: ThreadPool
  private let hooks: EngineHooks
  private let arena: AlignedBuffer
  private let scalings: [InputScaling?]

  var arenaBytes: Int { plan.arenaBytes }

  init(_ plan: Plan, pool: ThreadPool, hooks: EngineHooks) throws {
    self.plan = plan
    self.pool = pool
    self.hooks = hooks
    arena = try AlignedBuffer(checkedByteCount: plan.arenaBytes)
    scalings = try plan.graph.inputs.map { input in
      guard let preprocessing = input.preprocessing else { return nil }
      let channels = plan.graph.shape(input.value).channels
      return InputScaling(
        scale: try Constant([Float](repeating: preprocessing.scale, count: channels)),
        bias: try Constant(preprocessing.bias))
    }
  }

  /// - Parameter inputs: one tensor for each input of the graph, of its shape.
  /// - Returns: one tensor for each exposed blob.
  func run(_ inputs: [Tensor]) throws -> [Tensor] {
    try withExtendedLifetime(inputs) { try execute(inputs) }
  }

  private func execute(_ inputs: [Tensor]) throws -> [Tensor] {
    let arenaStart = arena.pointer.assumingMemoryBound(to: Float.self)
    let context = RunContext(
      arena: arenaStart, pool: pool,
      inputs: inputs.map { tensor in
        // No tensor is without elements.
        tensor.withUnsafeElements { $0.baseAddress ?? UnsafePointer(arenaStart) }
      })
    var results = plan.graph.exposed.map { _ in Tensor(shape: [0]) }
    let clock = ContinuousClock()
    for (step, action) in plan.actions.enumerated() {
      let start = hooks.onStep == nil ? nil : clock.now
      switch action {
      case .input(let index, let id): load(inputs[index], index, id, context)
      case .output(let index, let id): results[index] = store(id, context)
      case .node(let index, _, _):
        let node = plan.graph.nodes[index]
        do {
          try plan.bodies[step]?(context)
        } catch let error as ModelError {
          throw error.inLayer(node.name, class: node.layerType)
        }
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
    _ tensor: Tensor, _ index: Int, _ id: Plan.Representation.ID, _ context: RunContext
  ) {
    let operand = plan.operand(id)
    let layout = operand.layout
    guard let dense = try? TensorLayout(layout.shape, block: 1) else { return }
    let converter = LayoutConverter(from: dense, to: layout, plan.kernels)
    let target = context.pointer(operand)
    let scaling = scalings[index]
    let mean = plan.graph.inputs[index].preprocessing?.mean ?? []
    tensor.withUnsafeElements { elements in
      guard let source = elements.baseAddress else { return }
      if mean.isEmpty {
        context.parallel(converter.units, writing: operand) {
          converter.run($0, source, target, preprocessing: scaling)
        }
        return
      }
      // A mean image is rare: the difference is taken in a copy.
      var difference = [Float](repeating: 0, count: elements.count)
      for position in difference.indices {
        difference[position] = source[position] - mean[position % mean.count]
      }
      difference.withUnsafeBufferPointer { values in
        guard let values = values.baseAddress else { return }
        context.parallel(converter.units, writing: operand) { converter.run($0, values, target) }
      }
    }
  }

  private func store(_ id: Plan.Representation.ID, _ context: RunContext) -> Tensor {
    let operand = plan.operand(id)
    let layout = operand.layout
    let value = plan.representations[id].value
    var tensor = Tensor(shape: plan.graph.shape(value).dimensions)
    guard let dense = try? TensorLayout(layout.shape, block: 1) else { return tensor }
    let converter = LayoutConverter(from: layout, to: dense, plan.kernels)
    let source = context.pointer(operand)
    tensor.withUnsafeMutableElements { elements in
      guard let target = elements.baseAddress else { return }
      let base = UnsafeMutableSendable(target)
      context.pool.forEach(converter.units) { converter.run($0, source, base.pointer) }
    }
    return tensor
  }
}
