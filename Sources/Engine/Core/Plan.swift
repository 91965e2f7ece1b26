import Kernels
import TensorCore

/// The order of the steps, the layouts between them, and their memory.
struct Plan {
  /// What a step does.
  enum Action {
    /// Input feature → blob.
    case input(index: Int, Representation.ID)
    case node(index: Int, inputs: [Representation.ID], outputs: [Representation.ID])
    case convert(Representation.ID, Representation.ID)
    /// Blob → element `index` of the result.
    case output(index: Int, Representation.ID)
  }

  /// A blob in one layout.
  struct Representation {
    typealias ID = Int
    var value: Graph.ValueID
    var layout: BlobLayout
    /// Nil for constants.
    var buffer: Int?
    /// Floats from the buffer's start.
    var offset = 0
    /// The representation that contains this one, and its offset in floats there.
    var part: (of: ID, offset: Int)?
    var constant: Constant?
    /// The graph input whose tensor is read in place.
    var borrowedInput: Int?
  }

  let graph: Graph
  let kernels: any KernelTable.Type
  private let tiles: Tiles
  private(set) var representations: [Representation] = []
  private(set) var actions: [Action] = []
  private(set) var descriptions: [StepDescription] = []
  /// The executable form of `actions`; the executor handles inputs and outputs.
  private(set) var bodies: [StepBody?] = []
  private(set) var arenaBytes = 0
  /// Bytes of packed weights.
  var weightBytes: Int { descriptions.reduce(0) { $0 + $1.weightBytes } }
  /// Weights that dense layers read once, for one or two vectors.
  private let streamedWeights: Int
  private var offsets: [Int] = []
  private var scratchBuffers: [Int: Int] = [:]
  private var buffers: [ArenaPlanner.Buffer] = []

  /// - Throws: `.outOfMemory`, before anything large is allocated.
  init(_ graph: Graph, _ compilation: PassContext, maxMemory: Int?) throws {
    let (pool, kernels) = (compilation.pool, compilation.kernels)
    self.graph = graph
    self.kernels = kernels
    tiles = compilation.tiles
    streamedWeights = graph.nodes.reduce(0) { sum, node in
      let dense = node.operation as? DenseOperation
      return sum + (dense?.streamedWeights(graph.shape(node.outputs[0])) ?? 0)
    }
    var assignment = LayoutAssignment(graph, kernels: kernels)
    try assignment.assign()
    representations = assignment.representations
    actions = assignment.actions
    borrowInputs()
    try placeBuffers(pool)
    var contexts = actions.indices.map { context($0, pool) }
    descriptions = zip(actions, contexts).map { describe($0, $1) }
    let weightBytes = try checkedSum(descriptions.map(\.weightBytes))
    let outside = try (graph.inputs.map(\.value) + graph.exposed.map(\.value)).map {
      try checkedProduct(graph.shape($0).dimensions + [4])
    }
    try Self.check(try checkedSum([arenaBytes, weightBytes] + outside), maxMemory)
    let weights = try WeightStore(byteCount: weightBytes, count: actions.count)
    for step in contexts.indices { contexts[step].weights = weights }
    for (action, context) in zip(actions, contexts) {
      switch action {
      case .input, .output: bodies.append(nil)
      case .convert: bodies.append(convertStep(context))
      case .node(let index, _, _):
        let node = graph.nodes[index]
        bodies.append(try node.inErrors { try node.operation.makeStep(context) })
      }
    }
  }

  private static func check(_ bytes: Int, _ maxMemory: Int?) throws {
    let limit = maxMemory ?? MemoryBudget.limit
    guard bytes > limit else { return }
    throw MemoryBudget.refusal(
      "the network needs \(bytes) bytes for weights, inputs, outputs and working memory",
      limit: limit)
  }

  func shape(_ id: Representation.ID) -> [Int] { graph.shape(representations[id].value).dimensions }

  func operand(_ id: Representation.ID) -> Operand {
    let representation = representations[id]
    if let constant = representation.constant {
      return Operand(location: .constant(constant), layout: representation.layout)
    }
    if let index = representation.borrowedInput {
      return Operand(location: .input(index: index), layout: representation.layout)
    }
    let offset = representation.buffer.map { offsets[$0] / 4 + representation.offset } ?? 0
    return Operand(location: .arena(offset: offset), layout: representation.layout)
  }

  private func context(_ step: Int, _ pool: ThreadPool) -> StepContext {
    var inputs: [Representation.ID] = []
    var outputs: [Representation.ID] = []
    var name = ""
    var type = ""
    switch actions[step] {
    case .node(let index, let from, let to):
      (inputs, outputs) = (from, to)
      name = graph.nodes[index].name
      type = graph.nodes[index].layerType
    case .convert(let from, let to): (inputs, outputs) = ([from], [to])
    case .input(_, let id): outputs = [id]
    case .output(_, let id): inputs = [id]
    }
    let scratch = scratchBuffers[step].map { Operand.Location.arena(offset: offsets[$0] / 4) }
    return StepContext(
      layer: name, layerType: type, inputs: inputs.map(operand), outputs: outputs.map(operand),
      constants: inputs.map { graph.values[representations[$0].value].constant },
      scratch: scratch ?? .arena(offset: 0), threadCount: pool.threadCount,
      streamedWeights: streamedWeights, pool: pool, kernels: kernels, tiles: tiles)
  }

  private func convertStep(_ context: StepContext) -> StepBody {
    let converter = LayoutConverter(
      from: context.inputs[0].layout, to: context.outputs[0].layout, kernels: kernels)
    let input = context.inputs[0]
    let output = context.outputs[0]
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      if source == target {
        // The elements are already there; only lanes without a channel have to be cleared.
        let last = output.layout.channelBlocks - 1
        return output.layout.clearEmptyLanes(ofPlane: last, in: target)
      }
      run.parallel(converter.units, writing: output) { converter.run($0, source, target) }
    }
  }
}

// MARK: - Memory

extension Plan {
  /// Avoids copying inputs whose only readers can borrow them unchanged.
  private mutating func borrowInputs() {
    var isCopied = representations.map { !$0.layout.isDense }
    for action in actions {
      switch action {
      case .input: break
      case .node(let index, let inputs, _):
        for id in inputs.dropFirst(graph.nodes[index].operation.borrowableInputs) {
          isCopied[id] = true
        }
      case .convert, .output: for id in action.representations { isCopied[id] = true }
      }
    }
    for case .input(let index, let id) in actions
    where !isCopied[id] && graph.inputs[index].preprocessing == nil {
      representations[id].borrowedInput = index
    }
    actions.removeAll { action in
      guard case .input(_, let id) = action else { return false }
      return representations[id].borrowedInput != nil
    }
  }

  /// Assigns a buffer to every representation; views, in-place results and parts of a whole share
  /// buffers.
  private mutating func placeBuffers(_ pool: ThreadPool) throws {
    var firstUse = [Int?](repeating: nil, count: representations.count)
    var lastUse = [Int](repeating: 0, count: representations.count)
    for (step, action) in actions.enumerated() {
      for id in action.representations {
        firstUse[id] = firstUse[id] ?? step
        lastUse[id] = step
      }
    }
    var bufferOf = [Int?](repeating: nil, count: representations.count)
    // The last step that uses a buffer, over all representations in it.
    var members: [[Representation.ID]] = []
    func bytes(_ id: Representation.ID) throws -> Int {
      try checkedProduct([representations[id].layout.floatCount, 4])
    }
    func place(_ id: Representation.ID, with other: Representation.ID?) {
      if bufferOf[id] != nil { return }
      var other = other
      if let (whole, offset) = representations[id].part {
        place(whole, with: nil)
        representations[id].offset = representations[whole].offset + offset
        other = whole
      } else if let other {
        representations[id].offset = representations[other].offset
      }
      if let other, let buffer = bufferOf[other] {
        bufferOf[id] = buffer
        members[buffer].append(id)
      } else {
        bufferOf[id] = members.count
        members.append([id])
      }
    }
    for (step, action) in actions.enumerated() {
      switch action {
      case .input(_, let id): place(id, with: nil)
      case .output: break
      case .convert(let from, let to):
        let coincide = representations[from].layout.coincides(with: representations[to].layout)
        place(to, with: coincide && representations[from].constant == nil ? from : nil)
      case .node(let index, let inputs, let outputs):
        let operation = graph.nodes[index].operation
        for (position, output) in outputs.enumerated() {
          guard position == 0, let input = inputs.first, representations[input].constant == nil,
            let buffer = bufferOf[input]
          else {
            place(output, with: nil)
            continue
          }
          if operation.isView {
            place(output, with: input)
            continue
          }
          let isFree = members[buffer].allSatisfy { lastUse[$0] <= step }
          let others = inputs.dropFirst().contains { bufferOf[$0] == buffer }
          let fits = representations[input].layout == representations[output].layout
          let inPlace = operation.canRunInPlace && isFree && fits && !others
          place(output, with: inPlace ? input : nil)
        }
      }
    }
    buffers = try members.map { ids in
      ArenaPlanner.Buffer(
        byteCount: try ids.map(bytes).max() ?? 0,
        lifetime: (ids.compactMap { firstUse[$0] }.min() ?? 0)...(ids.map { lastUse[$0] }.max() ?? 0)
      )
    }
    for (id, buffer) in bufferOf.enumerated() { representations[id].buffer = buffer }
    offsets = [Int](repeating: 0, count: buffers.count)
    for (step, action) in actions.enumerated() {
      guard case .node(let index, _, _) = action else { continue }
      let node = graph.nodes[index]
      let bytes = try node.inErrors {
        try checkedProduct([node.operation.scratchFloats(context(step, pool)), 4])
      }
      if bytes == 0 { continue }
      scratchBuffers[step] = buffers.count
      buffers.append(ArenaPlanner.Buffer(byteCount: bytes, lifetime: step...step))
    }
    let planner = try ArenaPlanner(buffers)
    offsets = planner.offsets
    arenaBytes = planner.byteCount
  }
}

extension Plan.Action {
  var representations: [Plan.Representation.ID] {
    switch self {
    case .input(_, let id), .output(_, let id): [id]
    case .convert(let from, let to): [from, to]
    case .node(_, let inputs, let outputs): inputs + outputs
    }
  }
}

// MARK: - Descriptions

extension Plan {
  private func describe(_ action: Action, _ context: StepContext) -> StepDescription {
    func label(_ id: Representation.ID) -> String { representations[id].layout.label }
    func step(
      _ name: String, _ type: String, _ kernel: String, from: [Representation.ID],
      to: [Representation.ID]
    ) -> StepDescription {
      graph.step(
        name, type, kernel, from: from.map { representations[$0].value },
        to: to.map { representations[$0].value })
    }
    switch action {
    case .input(let index, let id):
      return step(graph.inputs[index].name, "input", "to \(label(id))", from: [], to: [id])
    case .convert(let from, let to):
      return step(
        graph.label(of: representations[to].value), "convert", "\(label(from)) to \(label(to))",
        from: [from], to: [to])
    case .output(let index, let id):
      return step(graph.exposed[index].name, "output", "from \(label(id))", from: [id], to: [id])
    case .node(let index, _, _):
      let node = graph.nodes[index]
      var description = graph.description(of: node)
      let note = node.operation.describe(context)
      if !note.kernel.isEmpty { description.kernel = note.kernel }
      description.weightBytes = note.weightBytes
      description.usesIntegers = note.usesIntegers
      return description
    }
  }
}

extension BlobLayout {
  var label: String { block == 1 ? (halo == .none ? "row-major" : "planes") : "blocks of \(block)" }
}
