import CoreMLModel
import Kernels
import TensorCore

/// Makes the plans for runs of layers.
struct RunCompiler: Sendable {
  let program: NetworkProgram
  let options: CompileOptions
  let context: PassContext
  /// A builder without layers.
  let builder: GraphBuilder

  var byteLimit: Int { options.maxMemory ?? MemoryBudget.limit }

  /// The plan of a run for these blobs from outside.
  func plan(_ run: LayerSequence, _ blobs: [Tensor]) throws -> RunPlan {
    var builder = builder
    for (index, (name, blob)) in zip(run.reads, blobs).enumerated() {
      try builder.addBlob(name, blob, isConstant: run.deciding.contains(index))
    }
    let before = builder.blobs
    let waiting = try builder.add(run.layers, context)
    let inputs = zip(run.reads.map { before[$0] }, run.slots(program.slots))
    return try plan(&builder, run, waiting, Array(inputs)) { name, value in
      before[name] != value
    }
  }

  /// The plan of the first run. Its graph contains the model's inputs and all layers but `waiting`.
  func firstPlan(
    _ builder: inout GraphBuilder, _ run: LayerSequence, _ waiting: [PlacedLayer]
  ) throws -> RunPlan {
    let inputs = builder.graph.inputs.map { $0.preprocessing == nil ? $0.value : nil }
    return try plan(&builder, run, waiting, Array(zip(inputs, inputs.indices))) { _, _ in true }
  }

  /// - Parameters:
  ///   - inputs: the value of each of the run's inputs, nil if it is not passed on as it is, and where
  ///     it is when the plan runs.
  ///   - isNew: whether a blob's value is not what the blob held before.
  private func plan(
    _ builder: inout GraphBuilder, _ run: LayerSequence, _ waiting: [PlacedLayer],
    _ inputs: [(value: Graph.ValueID?, slot: Int)], isNew: (String, Graph.ValueID) -> Bool
  ) throws -> RunPlan {
    let needed = run.wanted.union(waiting.flatMap(\.layer.input))
    let plan = RunPlan()
    for (name, value) in builder.blobs.sorted(by: { $0.key < $1.key })
    where needed.contains(name) && isNew(name, value) {
      guard let slot = program.slots[name] else { continue }
      if let input = inputs.first(where: { $0.value == value }) {
        plan.copies.append((input.slot, slot))
      } else {
        plan.outputs.append(slot)
        builder.graph.exposed.append((name, value))
      }
    }
    for (name, shape) in builder.empty.sorted(by: { $0.key < $1.key }) where needed.contains(name) {
      if let slot = program.slots[name] { plan.empty.append((slot, shape)) }
    }
    if !waiting.isEmpty {
      plan.rest = LayerSequence(waiting, wanted: run.wanted, takesInputs: false)
    }
    if builder.graph.exposed.isEmpty { return plan }
    var graph = builder.graph
    try Passes.run(&graph, context, without: options.withoutPasses)
    let used = graph.useCounts()
    let all = graph.inputs
    let taken = all.indices.filter { used[all[$0].value] > 0 }
    graph.inputs = taken.map { all[$0] }
    plan.inputs =
      run.takesInputs
      ? taken
      : graph.inputs.compactMap { input in inputs.first { $0.value == input.value }?.slot }
    try makeExecutor(graph, plan)
    return plan
  }

  /// The plan of a network that is a single run; its graph computes the results.
  func fixedPlan(_ graph: Graph) throws -> RunPlan {
    var graph = graph
    try Passes.run(&graph, context, without: options.withoutPasses)
    let plan = RunPlan()
    try makeExecutor(graph, plan)
    return plan
  }

  private func makeExecutor(_ graph: Graph, _ plan: RunPlan) throws {
    let steps = try Plan(
      graph, context, maxMemory: options.maxMemory)
    let executor = try Executor(steps, pool: context.pool, hooks: options.hooks)
    plan.executor = executor
    plan.steps = steps.descriptions
    plan.byteCount = executor.arenaBytes + steps.weightBytes
  }
}
