import CoreMLModel
import TensorCore

/// One prediction of a program: the current values of the blobs, and the execution of statements.
struct ProgramRun {
  private enum Outcome { case done, left, next }

  private let compiler: RunCompiler
  private var blobs: [Tensor?]
  private var runs: LoopRuns

  init(_ compiler: RunCompiler) {
    self.compiler = compiler
    runs = LoopRuns(isBounded: compiler.options.hasBoundedLoops)
    blobs = [Tensor?](repeating: nil, count: compiler.program.slots.count)
  }

  /// The value of a blob; nil if nothing has written it.
  func blob(_ name: String) -> Tensor? { compiler.program.slots[name].flatMap { blobs[$0] } }

  /// - Parameter first: the plan of the first run, which reads the model's inputs.
  mutating func run(first: RunPlan, _ inputs: [Tensor]) throws {
    try first.run(&blobs, inputs: inputs, round: 0)
    if let rest = first.rest { try execute(rest) }
    _ = try execute(compiler.program.statements.dropFirst())
  }

  private mutating func execute(
    _ statements: some Sequence<NetworkProgram.Statement>
  ) throws -> Outcome {
    for statement in statements {
      switch statement {
      case .run(let layers): try execute(layers)
      case .branch(let branch):
        let isTrue = try branch.layer.inErrors { try number(branch.condition, "input").isTrue }
        let outcome = try execute(isTrue ? branch.first : branch.second)
        if outcome != .done { return outcome }
      case .loop(let loop): try execute(loop)
      case .leave: return .left
      case .next: return .next
      }
    }
    return .done
  }

  private mutating func execute(_ loop: NetworkProgram.LoopStatement) throws {
    let layer = loop.layer
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
    let slots = run.slots(compiler.program.slots)
    let plan = try run.plan(blobs, slots, byteLimit: compiler.byteLimit) {
      try compiler.plan($0, $1)
    }
    runs.add(work: plan.work)
    try plan.run(&blobs, round: runs.count)
    if let rest = plan.rest { try execute(rest) }
    if let others = run.others { try execute(others) }
  }

  private func number(_ slot: Int, _ field: String) throws -> Double {
    guard let value = blobs[slot]?.withUnsafeElements({ $0.first ?? 0 }) else {
      throw ModelError(.malformed, "no layer has produced the blob yet", field: field)
    }
    return Double(value)
  }
}
