import Kernels
import TensorCore

/// Decides which layouts each blob exists in, and where to convert between them: the producer's
/// layout, with the largest halo that a reader requests, plus another one for readers that need
/// another block. Inputs of a concatenation are written directly to their part of the whole.
struct LayoutAssignment {
  private struct Key: Hashable {
    var value: Graph.ValueID
    var block: LayoutPreference.Block
  }

  private let graph: Graph
  private let kernels: any KernelTable.Type
  private var wishes: [LayoutPreferences] = []
  /// The block in which each value is produced; nil for inputs and constants, which can have any.
  private var produced: [LayoutPreference.Block?]
  private var halos: [Key: Halo] = [:]
  /// The whole to which each part belongs, and the part's first channel in it.
  private var wholes: [Key: (whole: Key, channel: Int)] = [:]
  private var ids: [Key: Plan.Representation.ID] = [:]
  private var written: Set<Plan.Representation.ID> = []
  private(set) var representations: [Plan.Representation] = []
  private(set) var actions: [Plan.Action] = []

  init(_ graph: Graph, kernels: any KernelTable.Type) {
    self.graph = graph
    self.kernels = kernels
    produced = [LayoutPreference.Block?](repeating: nil, count: graph.values.count)
  }

  mutating func assign() throws {
    collectWishes()
    findParts()
    var outputs: [Graph.ValueID: [Int]] = [:]
    for (index, exposed) in graph.exposed.enumerated() {
      outputs[exposed.value, default: []].append(index)
    }
    for (index, exposed) in graph.exposed.enumerated() where produced[exposed.value] == nil {
      actions.append(.output(index: index, try representation(exposed.value, .dense)))
    }
    for (index, node) in graph.nodes.enumerated() {
      let inputs = try zip(node.inputs, wishes[index].inputs).map {
        try representation($0, $1.block)
      }
      let results = try zip(node.outputs, wishes[index].outputs).map { value, block in
        let id = try makeRepresentation(Key(value: value, block: natural(block, of: value)))
        written.insert(id)
        return id
      }
      actions.append(.node(index: index, inputs: inputs, outputs: results))
      for (value, id) in zip(node.outputs, results) {
        for output in outputs[value] ?? [] { actions.append(.output(index: output, id)) }
      }
    }
    for (key, id) in ids {
      guard let (whole, channel) = wholes[key], let other = ids[whole] else { continue }
      let layout = representations[id].layout
      representations[id].part = (other, channel / layout.block * layout.planeStride)
    }
  }

  private mutating func collectWishes() {
    for node in graph.nodes {
      let shapes = NodeShapes(
        inputs: node.inputs.map { graph.shape($0) }, outputs: node.outputs.map { graph.shape($0) },
        producedBlocks: node.inputs.map { produced[$0] ?? .dense })
      let wish = node.operation.layoutWishes(shapes)
      wishes.append(wish)
      for (value, input) in zip(node.inputs, wish.inputs) {
        let key = Key(value: value, block: input.block)
        halos[key] = (halos[key] ?? .none).union(input.halo)
      }
      for (value, block) in zip(node.outputs, wish.outputs) { produced[value] = block }
    }
  }

  /// Finds inputs of concatenations that start and end at a channel block, which can be written
  /// directly to the whole. A value is part of at most one whole.
  private mutating func findParts() {
    let block = kernels.channelBlock
    for (index, node) in graph.nodes.enumerated()
    where node.operation.joinsChannels && wishes[index].outputs == [.blocked] {
      let whole = Key(value: node.outputs[0], block: .blocked)
      var channel = 0
      for (position, value) in node.inputs.enumerated() {
        let key = Key(value: value, block: .blocked)
        let channels = graph.shape(value).channels
        let isAligned =
          channel % block == 0 && (channels % block == 0 || position == node.inputs.count - 1)
        if isAligned, produced[value] == .blocked, wholes[key] == nil {
          wholes[key] = (whole, channel)
        }
        channel += channels
      }
    }
    for key in wholes.keys { halos[outermost(key)] = halo(key).union(halo(outermost(key))) }
  }

  /// The outermost whole that the value is part of, or the value itself.
  private func outermost(_ key: Key) -> Key {
    var key = key
    while let (whole, _) = wholes[key] { key = whole }
    return key
  }

  /// Planes without a halo are the same as row-major order.
  private func natural(_ block: LayoutPreference.Block, of value: Graph.ValueID)
    -> LayoutPreference.Block
  {
    if block == .planar, halo(Key(value: value, block: .planar)) == .none { return .dense }
    return block
  }

  private func halo(_ key: Key) -> Halo { halos[key] ?? .none }

  private func layout(_ key: Key) throws -> BlobLayout {
    if let (whole, _) = wholes[key] {
      return BlobLayout(graph.shape(key.value), in: try layout(whole))
    }
    return try BlobLayout(
      graph.shape(key.value), block: key.block == .blocked ? kernels.channelBlock : 1,
      halo: key.block == .dense ? .none : halo(key))
  }

  private mutating func makeRepresentation(_ key: Key) throws -> Plan.Representation.ID {
    representations.append(Plan.Representation(value: key.value, layout: try layout(key)))
    ids[key] = representations.count - 1
    return representations.count - 1
  }

  /// The value with the requested block, converted now if necessary.
  private mutating func representation(
    _ value: Graph.ValueID, _ wanted: LayoutPreference.Block
  ) throws -> Plan.Representation.ID {
    let key = Key(value: value, block: natural(wanted, of: value))
    if let id = ids[key] { return id }
    let id = try makeRepresentation(key)
    if let constant = graph.values[value].constant {
      representations[id].constant = try LayoutConverter.converted(
        constant, to: representations[id].layout, kernels)
    } else if let own = produced[value],
      let source = ids[Key(value: value, block: natural(own, of: value))]
    {
      actions.append(.convert(source, id))
    } else if let input = graph.inputs.firstIndex(where: { $0.value == value }) {
      actions.append(.input(index: input, id))
    } else {
      throw ModelError(
        .internal, "the blob '\(graph.values[value].name)' is read before it is written")
    }
    return id
  }
}
