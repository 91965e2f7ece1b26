/// A network with layers as nodes and blobs as edges.
package struct NetworkGraph: Sendable {
  package enum Kind: String, Sendable {
    case input, output, layer, custom
    /// A block of layers that is repeated.
    case folded
  }

  package struct Node: Sendable {
    package var name: String
    package var kind: Kind
    /// The type of the layer or of the feature.
    package var type: String
    /// The shape of its result.
    package var shape = ""
    /// The index of the layer among all layers; nil for an input or output of the model.
    package var layer: Int?
    /// Names and shapes.
    package var weights: [String] = []
    /// What the layer does; it gives the color.
    package var family: LayerFamily
    /// The indices of the layers of a folded block.
    var members: [Int] = []

    package init(name: String, kind: Kind, type: String) {
      (self.name, self.kind, self.type, family) = (name, kind, type, LayerFamily(type))
    }
  }

  package struct Edge: Sendable, Hashable {
    package var from: Int
    package var to: Int
    package var blob: String
  }

  /// An element of a graph: an input, a layer, or an output.
  package struct Part: Sendable {
    package var node: Node
    package var inputs: [String]
    package var outputs: [String]

    package init(_ node: Node, inputs: [String], outputs: [String]) {
      self.node = node
      self.inputs = inputs
      self.outputs = outputs
    }
  }

  package private(set) var nodes: [Node]
  /// The edges, each from an earlier to a later node.
  package private(set) var edges: [Edge]

  /// - Parameter parts: in the order of computation; a blob belongs to the last earlier part that
  ///   writes it.
  package init(_ parts: [Part]) {
    nodes = parts.map(\.node)
    edges = []
    var writers: [String: Int] = [:]
    for (index, part) in parts.enumerated() {
      for name in part.inputs {
        if let writer = writers[name] { edges.append(Edge(from: writer, to: index, blob: name)) }
      }
      for name in part.outputs { writers[name] = index }
    }
  }

  private init(nodes: [Node], edges: [Edge]) {
    self.nodes = nodes
    self.edges = edges
  }

  /// The graph with one node for each repeated block of layers. Nodes are in the order of
  /// computation or by rank, whichever folds more; a layer that blocks share may be in the first.
  package var folded: NetworkGraph {
    let (folded, other) = (foldedInOrder, byRank.foldedInOrder)
    return other.nodes.count < folded.nodes.count ? other : folded
  }

  /// The same graph with its nodes ordered by rank.
  private var byRank: NetworkGraph {
    let ranks = LayeredLayout.ranks(count: nodes.count, edges.map { ($0.from, $0.to) })
    let order = nodes.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
    var positions = [Int](repeating: 0, count: nodes.count)
    for (position, node) in order.enumerated() { positions[node] = position }
    return NetworkGraph(
      nodes: order.map { nodes[$0] },
      edges: edges.map { Edge(from: positions[$0.from], to: positions[$0.to], blob: $0.blob) })
  }

  private var foldedInOrder: NetworkGraph {
    var folded: [Node] = []
    /// The index of each node in the folded graph.
    var positions: [Int] = []
    var blocks = RepeatedBlocks(self).blocks[...]
    for index in nodes.indices {
      if let block = blocks.first, block.contains(index) {
        if index == block.lowerBound { folded.append(Node(block: nodes[block])) }
        if index == block.upperBound - 1 { blocks.removeFirst() }
      } else {
        folded.append(nodes[index])
      }
      positions.append(folded.count - 1)
    }
    var seen = Set<Edge>()
    let kept = edges.map { Edge(from: positions[$0.from], to: positions[$0.to], blob: $0.blob) }
      .filter { $0.from != $0.to && seen.insert($0).inserted }
    return NetworkGraph(nodes: folded, edges: kept)
  }
}

extension NetworkGraph.Node {
  fileprivate init(block: ArraySlice<NetworkGraph.Node>) {
    let (first, last) = (block[block.startIndex], block[block.endIndex - 1])
    let common = block.dropFirst().reduce(first.name) { $0.commonPrefix(with: $1.name) }
    let types = block.map(\.type)
    self.init(
      name: common.count > 3 ? "\(common)…" : "\(first.name) … \(last.name)", kind: .folded,
      type: block.count <= 4 ? types.joined(separator: " + ") : "block of \(block.count)")
    (shape, layer, weights) = (last.shape, first.layer, block.flatMap(\.weights))
    family = block.count <= 4 ? first.family : .other
    members = block.compactMap(\.layer)
  }
}
