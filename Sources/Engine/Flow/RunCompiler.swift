import CoreMLModel
import Kernels
import TensorCore

/// Makes plans of runs of layers.
struct RunCompiler {
  let program: NetworkProgram
  let options: CompileOptions
  let context: PassContext
  /// Without layers.
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
    let inputs = zip(run.reads, run.reads.indices).map { (value: before[$0], place: $1) }
    return try plan(&builder, run, waiting, inputs.map(\.value)) { name, value in
      before[name] != value
    }
  }

  /// The plan of the first run, whose graph holds the model's inputs and the layers that do not wait.
  func firstPlan(
    _ builder: inout GraphBuilder, _ run: LayerSequence, _ waiting: [PlacedLayer]
  ) throws -> RunPlan {
    let inputs = builder.graph.inputs.map { $0.preprocessing == nil ? $0.value : nil }
    return try plan(&builder, run, waiting, inputs) { _, _ in true }
  }

  /// - Parameters:
  ///   - inputs: the value of each of the run's inputs, nil where it is not passed on as it is.
  ///   - isNew: whether a blob's value is not what the blob held before.
  private func plan(
    _ builder: inout GraphBuilder, _ run: LayerSequence, _ waiting: [PlacedLayer],
    _ inputs: [Graph.ValueID?], isNew: (String, Graph.ValueID) -> Bool
  ) throws -> RunPlan {
    let needed = run.wanted.union(waiting.flatMap(\.layer.input))
    var plan = RunPlan(inputs: [], outputs: [])
    for (name, value) in builder.blobs.sorted(by: { $0.key < $1.key })
    where needed.contains(name) && isNew(name, value) {
      guard let slot = program.slots[name] else { continue }
      if let place = inputs.firstIndex(of: value) {
        plan.outputs.append((slot, .input(place)))
      } else {
        plan.outputs.append((slot, .result(builder.graph.exposed.count)))
        builder.graph.exposed.append((name, value))
      }
    }
    for (name, shape) in builder.empty.sorted(by: { $0.key < $1.key }) where needed.contains(name) {
      if let slot = program.slots[name] { plan.outputs.append((slot, .empty(shape))) }
    }
    if !waiting.isEmpty {
      plan.rest = LayerSequence(waiting, wanted: run.wanted, takesInputs: false)
    }
    if builder.graph.exposed.isEmpty { return plan }
    var graph = builder.graph
    try Passes.run(&graph, context, without: options.withoutPasses)
    let used = graph.useCounts()
    let all = graph.inputs
    let places = all.indices.filter { used[all[$0].value] > 0 }
    graph.inputs = places.map { all[$0] }
    plan.inputs =
      run.takesInputs ? places : graph.inputs.compactMap { inputs.firstIndex(of: $0.value) }
    try makeExecutor(graph, &plan)
    return plan
  }

  /// The plan of a network that is a single run, whose graph gives the results.
  func fixedPlan(_ graph: Graph) throws -> RunPlan {
    var graph = graph
    try Passes.run(&graph, context, without: options.withoutPasses)
    var plan = RunPlan(inputs: Array(graph.inputs.indices), outputs: [])
    try makeExecutor(graph, &plan)
    return plan
  }

  private func makeExecutor(_ graph: Graph, _ plan: inout RunPlan) throws {
    let steps = try Plan(
      graph, pool: context.pool, kernels: context.kernels, maxMemory: options.maxMemory)
    let executor = try Executor(steps, pool: context.pool, hooks: options.hooks)
    plan.executor = executor
    plan.steps = steps.descriptions
    plan.byteCount = executor.arenaBytes + steps.weightBytes
  }
}
