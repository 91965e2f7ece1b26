import TensorCore

/// A network's graph as text for other programs to draw.
package struct GraphText: Sendable {
  let graph: NetworkGraph

  package init(_ graph: NetworkGraph) { self.graph = graph }

  /// The graph in the DOT language of Graphviz.
  package var dot: String {
    var text = "digraph network {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n"
    for (index, node) in graph.nodes.enumerated() {
      let shape = node.kind == .input || node.kind == .output ? ", style=\"rounded,bold\"" : ""
      let label = lines(node).map(\.escapingQuotes).joined(separator: "\\n")
      text += "  n\(index) [label=\"\(label)\"\(shape)]\n"
    }
    for edge in graph.edges {
      text += "  n\(edge.from) -> n\(edge.to) [tooltip=\(edge.blob.inQuotes)]\n"
    }
    return text + "}\n"
  }

  /// Markdown with a Mermaid diagram.
  package func markdown(title: String) -> String {
    var text = "# \(Self.entities(title, "&#"))\n\n```mermaid\ngraph TD\n"
    for (index, node) in graph.nodes.enumerated() {
      let label = lines(node).map { Self.entities($0, "#") }.joined(separator: "<br>")
      let isEnd = node.kind == .input || node.kind == .output
      text += "  n\(index)\(isEnd ? "([\"\(label)\"])" : "[\"\(label)\"]")\n"
    }
    var seen = Set<[Int]>()
    for edge in graph.edges where seen.insert([edge.from, edge.to]).inserted {
      text += "  n\(edge.from) --> n\(edge.to)\n"
    }
    return text + "```\n"
  }

  private func lines(_ node: NetworkGraph.Node) -> [String] {
    [node.name, node.type, node.shape].filter { !$0.isEmpty }
  }

  /// Escapes special characters as `&#…;` in Markdown, and as `#…;` in Mermaid.
  private static func entities(_ text: String, _ start: String) -> String {
    text.escapingControls().escaping { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", " ", ".", ",", "_", "-", "/", ":", "×", "→": nil
      default: "\(start)\(scalar.value);"
      }
    }
  }
}
