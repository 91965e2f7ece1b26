/// The layers of a network as nodes, their blobs as edges.
package struct NetworkGraph: Sendable {
  package enum Kind: String, Sendable {
    case input, output, layer, custom
    /// Several layers, each of which feeds only the next.
    case folded
  }

  package struct Node: Sendable {
    package var name: String
    package var kind: Kind
    /// The type of the layer or of the feature.
    package var type: String
    /// The shape of its result.
    package var shape: String
    /// The index of the layer among all layers; nil for an input or output of the model.
    package var layer: Int?

    package init(name: String, kind: Kind, type: String, shape: String = "", layer: Int? = nil) {
      self.name = name
      self.kind = kind
      self.type = type
      self.shape = shape
      self.layer = layer
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
  /// From earlier to later nodes.
  package private(set) var edges: [Edge]

  /// - Parameter parts: in the order of computation; a blob refers to the last earlier part that
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

  /// The graph with one node for each chain of layers that feed only each other.
  package var folded: NetworkGraph {
    var successors = [Set<Int>](repeating: [], count: nodes.count)
    var predecessors = successors
    for edge in edges {
      successors[edge.from].insert(edge.to)
      predecessors[edge.to].insert(edge.from)
    }
    func isLayer(_ index: Int) -> Bool { nodes[index].layer != nil }
    /// The index of each node in the folded graph.
    var places: [Int] = []
    var runs: [[Int]] = []
    for index in nodes.indices {
      if isLayer(index), predecessors[index].count == 1, let before = predecessors[index].first,
        isLayer(before), successors[before].count == 1
      {
        places.append(places[before])
        runs[places[before]].append(index)
      } else {
        places.append(runs.count)
        runs.append([index])
      }
    }
    let folded = runs.map { run in
      guard run.count > 1, let first = run.first, let last = run.last else { return nodes[run[0]] }
      return Node(
        name: "\(nodes[first].name) … \(nodes[last].name)", kind: .folded,
        type: "\(run.count) layers", shape: nodes[last].shape, layer: nodes[first].layer)
    }
    var seen = Set<Edge>()
    let kept = edges.map { Edge(from: places[$0.from], to: places[$0.to], blob: $0.blob) }
      .filter { $0.from != $0.to && seen.insert($0).inserted }
    return NetworkGraph(nodes: folded, edges: kept)
  }
}
