import TensorCore

/// A network's graph as text for other programs to draw.
package struct GraphText: Sendable {
  let graph: NetworkGraph

  package init(_ graph: NetworkGraph) { self.graph = graph }

  /// In the DOT language of Graphviz.
  package var dot: String {
    var text = "digraph network {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n"
    for (index, node) in graph.nodes.enumerated() {
      let shape = node.kind == .input || node.kind == .output ? ", style=\"rounded,bold\"" : ""
      text +=
        "  n\(index) [label=\"\(lines(node).map(Self.quoted).joined(separator: "\\n"))\"\(shape)]\n"
    }
    for edge in graph.edges {
      text += "  n\(edge.from) -> n\(edge.to) [tooltip=\"\(Self.quoted(edge.blob))\"]\n"
    }
    return text + "}\n"
  }

  /// Markdown with a Mermaid diagram.
  package func markdown(title: String) -> String {
    var text = "# \(Self.plain(title))\n\n```mermaid\ngraph TD\n"
    for (index, node) in graph.nodes.enumerated() {
      let label = lines(node).map(Self.entities).joined(separator: "<br>")
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

  private static func plain(_ text: String) -> String { text.escapingControls() }

  private static func quoted(_ text: String) -> String {
    plain(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
  }

  /// Mermaid escapes its special characters as `#…;`.
  private static func entities(_ text: String) -> String {
    var result = ""
    for scalar in plain(text).unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", " ", ".", ",", "_", "-", "/", ":", "×", "→":
        result.unicodeScalars.append(scalar)
      default: result += "#\(scalar.value);"
      }
    }
    return result
  }
}
