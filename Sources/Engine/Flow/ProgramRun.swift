import CoreMLModel
import TensorCore

/// One prediction of a program: the blobs that there are so far, and the statements that change them.
struct ProgramRun {
  private enum Outcome { case done, left, next }

  private let compiler: RunCompiler
  private var blobs: [Tensor?]
  private var runs = LoopRuns()

  init(_ compiler: RunCompiler) {
    self.compiler = compiler
    blobs = [Tensor?](repeating: nil, count: compiler.program.slots.count)
  }

  /// A blob; nil where nothing has written it.
  func blob(_ name: String) -> Tensor? { compiler.program.slots[name].flatMap { blobs[$0] } }

  /// - Parameter first: the plan of the first run, which takes the model's inputs.
  mutating func run(first: RunPlan, _ inputs: [Tensor]) throws {
    try execute(first, inputs)
    _ = try execute(compiler.program.statements.dropFirst())
  }

  private mutating func execute(
    _ statements: some Sequence<NetworkProgram.Statement>
  ) throws -> Outcome {
    for statement in statements {
      switch statement {
      case .run(let layers): try execute(layers)
      case .branch(let layer, let condition, let first, let second):
        let isTrue = try layer.inErrors { try number(condition, "input").isTrue }
        let outcome = try execute(isTrue ? first : second)
        if outcome != .done { return outcome }
      case .loop(let layer, let loop): try execute(loop, layer)
      case .leave: return .left
      case .next: return .next
      }
    }
    return .done
  }

  private mutating func execute(
    _ loop: NetworkProgram.LoopStatement, _ layer: PlacedLayer
  ) throws {
    let count = try layer.inErrors {
      try loop.parameters.runCount(loop.count.map { try number($0, "input") })
    }
    var done = 0
    while count.map({ done < $0 }) ?? true {
      if let condition = loop.condition {
        _ = try execute(loop.conditionNetwork)
        guard try layer.inErrors({ try number(condition, "conditionVar").isTrue }) else { return }
      }
      try layer.inErrors { try runs.begin() }
      if try execute(loop.body) == .left { return }
      done += 1
    }
  }

  private mutating func execute(_ run: LayerSequence) throws {
    var inputs: [Tensor] = []
    for (index, slot) in run.slots(compiler.program.slots).enumerated() {
      guard let blob = blobs[slot] else { throw run.missing(run.reads[index]) }
      inputs.append(blob)
    }
    let plan = try run.plan(inputs, byteLimit: compiler.byteLimit) {
      try compiler.plan($0, inputs)
    }
    try execute(plan, inputs)
    if let others = run.others { try execute(others) }
  }

  private mutating func execute(_ plan: RunPlan, _ inputs: [Tensor]) throws {
    let results = try plan.executor?.run(plan.inputs.map { inputs[$0] }, round: runs.count) ?? []
    for (slot, source) in plan.outputs {
      switch source {
      case .result(let index): blobs[slot] = results[index]
      case .input(let index): blobs[slot] = inputs[index]
      case .empty(let shape): blobs[slot] = Tensor(shape: shape)
      }
    }
    if let rest = plan.rest { try execute(rest) }
  }

  private func number(_ slot: Int, _ field: String) throws -> Double {
    guard let blob = blobs[slot] else {
      throw ModelError(.malformed, "no layer has produced the blob yet", field: field)
    }
    return blob.withUnsafeElements { $0.first.map(Double.init) ?? 0 }
  }
}

extension LayerSequence {
  /// The error of a blob that nothing has produced.
  func missing(_ name: String) -> ModelError {
    let reader = layers.first { $0.layer.input.contains(name) }?.layer
    return ModelError(
      .malformed, "neither an input nor an earlier layer produces the blob '\(name)'",
      field: "input"
    ).inLayer(reader?.name ?? "", class: reader?.parameters?.engineTypeName)
  }
}
