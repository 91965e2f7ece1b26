import CoreMLModel
import TensorCore

/// The control flow of a network: runs of layers, each with plans for the shapes of its inputs, and
/// the statements between them. All blobs, including those of networks inside layers, share one
/// namespace.
struct NetworkProgram: Sendable {
  enum Statement: Sendable {
    case run(LayerSequence)
    case branch(BranchStatement)
    case loop(LoopStatement)
    case leave
    case next
  }

  /// Blobs are numbers of `slots`.
  struct BranchStatement: Sendable {
    let layer: PlacedLayer
    let condition: Int
    let first: [Statement]
    let second: [Statement]
  }

  struct LoopStatement: Sendable {
    let layer: PlacedLayer
    let parameters: Loop
    let count: Int?
    let condition: Int?
    let conditionNetwork: [Statement]
    let body: [Statement]
  }

  let statements: [Statement]
  /// The slots of the blobs, by name.
  let slots: [String: Int]

  /// - Parameter results: the blobs that a prediction returns.
  init(_ layers: [PlacedLayer], inputs: [String], results: Set<String>) throws {
    var builder = Builder(results: results)
    for name in inputs { _ = builder.slot(name) }
    builder.findShared(layers)
    statements = try builder.statements(layers, isFirst: true, isInLoop: false)
    slots = builder.slots
  }

  private struct Builder {
    let results: Set<String>
    var slots: [String: Int] = [:]
    /// Blobs that conditions read, or runs of layers other than the one that writes them.
    var shared: Set<String> = []

    init(results: Set<String>) { self.results = results }

    mutating func slot(_ name: String) -> Int {
      if let slot = slots[name] { return slot }
      slots[name] = slots.count
      return slots.count - 1
    }

    /// Finds the blobs that a run of layers must provide to others.
    mutating func findShared(_ layers: [PlacedLayer]) {
      var written: Set<String> = []
      for placed in layers {
        if placed.layer.parameters is any FlowLayer {
          shared.formUnion(placed.layer.input)
          if let loop = placed.layer.parameters as? Loop { shared.insert(loop.conditionVar) }
          for network in placed.networks { findShared(network) }
          written = []
        } else {
          // Blobs read before they are written come from another run, or from a previous execution.
          shared.formUnion(placed.layer.input.filter { !written.contains($0) })
          written.formUnion(placed.layer.output)
        }
      }
    }

    mutating func statements(
      _ layers: [PlacedLayer], isFirst: Bool, isInLoop: Bool
    ) throws -> [Statement] {
      var result: [Statement] = []
      var run: [PlacedLayer] = []
      func flush(_ isFirst: Bool) {
        if run.isEmpty, !isFirst { return }
        result.append(.run(LayerSequence(run, wanted: shared.union(results), takesInputs: isFirst)))
        run = []
      }
      for placed in layers {
        for name in placed.layer.input + placed.layer.output { _ = slot(name) }
        guard placed.layer.parameters is any FlowLayer else {
          run.append(placed)
          continue
        }
        flush(isFirst && result.isEmpty)
        result.append(try placed.inErrors { try statement(placed, isInLoop) })
      }
      flush(isFirst && result.isEmpty)
      return result
    }

    private mutating func statement(_ placed: PlacedLayer, _ isInLoop: Bool) throws -> Statement {
      let input = placed.layer.input.first.map { slot($0) }
      switch placed.layer.parameters {
      case is Branch:
        guard let input else {
          throw ModelError(.malformed, "the condition is missing", field: "input")
        }
        return .branch(
          BranchStatement(
            layer: placed, condition: input,
            first: try statements(placed.networks[0], isFirst: false, isInLoop: isInLoop),
            second: try statements(placed.networks[1], isFirst: false, isInLoop: isInLoop)))
      case let loop as Loop:
        let hasCondition = !placed.networks[0].isEmpty
        return .loop(
          LoopStatement(
            layer: placed, parameters: loop, count: input,
            condition: hasCondition ? slot(loop.conditionVar) : nil,
            conditionNetwork: try statements(placed.networks[0], isFirst: false, isInLoop: false),
            body: try statements(placed.networks[1], isFirst: false, isInLoop: true)))
      default:
        try require(isInLoop, "the layer is not in the body of a loop")
        return placed.layer.parameters is LoopBreak ? .leave : .next
      }
    }
  }
}
