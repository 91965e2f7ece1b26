import TensorCore

/// A network's graph as an SVG image.
package struct GraphImage: Sendable {
  /// The largest number of nodes; larger graphs take too long to lay out and are not readable.
  package static let largestCount = 10_000

  let graph: NetworkGraph
  private static let header = 24.0
  private static let line = 16.0
  private static let margin = 16.0

  package init(_ graph: NetworkGraph) { self.graph = graph }

  /// The colors, which follow the system's light or dark mode.
  static let style = HTML(stringLiteral: Report.text(PackageResources.graph_css))

  /// The image as a standalone file.
  ///
  /// - Throws: `.unsupported` if the graph has too many nodes.
  package func file() throws -> String { try element(label: nil, row: nil).source }

  /// The image as part of a page, if it has a label; `row` is the prefix of row IDs.
  func element(label: String?, row: String?) throws -> HTML {
    guard graph.nodes.count <= Self.largestCount else {
      throw ModelError(
        .unsupported,
        "a graph of \(groupedText(graph.nodes.count)) nodes is too large to draw; the limit is "
          + groupedText(Self.largestCount),
        hint: "write it as text, with the extension .dot or .md")
    }
    let boxes = graph.nodes.map(NodeBox.init)
    let layout = LayeredLayout(
      widths: boxes.map { max($0.width, 14 * Double($0.result.count) - 8) },
      heights: boxes.map {
        Self.header + ($0.lines.isEmpty ? 0 : 4 + Self.line * Double($0.lines.count))
      },
      edges: graph.edges.map { ($0.from, $0.to) }, rowGap: 42)
    var content: HTML = ""
    // A shape is drawn beside the outgoing edges: on the left if all of them turn right.
    var turns = [Double](repeating: .infinity, count: boxes.count)
    for (edge, path) in zip(graph.edges, layout.paths) {
      let turn = layout.centers[path[1]].x - layout.centers[path[0]].x
      turns[edge.from] = min(turns[edge.from], turn)
      content.append(
        """
        <path class="edge" data-ends="\(edge.from) \(edge.to)" d="\(curve(path, layout))">\
        <title>\(edge.blob)</title></path>

        """)
    }
    for index in graph.nodes.indices {
      let isLeft = turns[index] > 1 && turns[index] < .infinity
      content.append(drawn(index, boxes[index], layout, row, isLeft: isLeft))
    }
    let (left, right) = layout.sides
    let (width, height) = (right - left + 2 * Self.margin, layout.height + 2 * Self.margin)
    let file: HTML = label == nil ? "xmlns=\"http://www.w3.org/2000/svg\" class=\"page\" " : ""
    let end: HTML =
      label.map { " role=\"img\" aria-label=\"\($0)\">" } ?? ">\n<style>\n\(Self.style)</style>"
    return """
      <svg \(file)viewBox="\(left - Self.margin) \(-Self.margin) \(width) \(height)" width="\(width)" height="\(height)"\(end)
      <g class="graph">
      \(content)</g>
      </svg>

      """
  }

  private func drawn(
    _ index: Int, _ box: NodeBox, _ layout: LayeredLayout, _ row: String?, isLeft: Bool
  ) -> HTML {
    let node = graph.nodes[index]
    let (center, height) = (layout.centers[index], layout.heights[index])
    let (x, y) = ((center.x - box.width / 2).rounded(), center.y - height / 2)
    var inside: HTML = "<title>\(node.name)</title>"
    let bodies: [(HTML, Double, Double)] = [("body", 0, height), ("head", 0, Self.header)]
    let shadow: [(HTML, Double, Double)] = node.kind == .folded ? [("body", 5, height)] : []
    for (name, offset, height) in shadow + bodies {
      inside.append(
        """
        <rect class="\(name)" x="\(x + offset)" y="\(y + offset)" width="\(box.width)" \
        height="\(height)" rx="5"/>
        """)
    }
    inside.append("<text class=\"title\" x=\"\(x + 10)\" y=\"\(y + 16)\">\(box.title)</text>")
    for (number, line) in box.lines.enumerated() {
      let base = y + Self.header + Self.line * Double(number + 1) - 2
      let kind: HTML = number == 0 ? "" : " class=\"weight\""
      inside.append("<text\(kind) x=\"\(x + 10)\" y=\"\(base)\">\(line)</text>")
    }
    if !box.result.isEmpty {
      inside.append(
        """
        <text class="result\(isLeft ? " left" : "")" x="\(center.x.rounded() + (isLeft ? -8 : 8))" \
        y="\(y + height + 17)">\(box.result)</text>
        """)
    }
    let kind = "\(node.kind.rawValue) \(node.family.rawValue)"
    guard let row, let layer = node.layer else {
      return "<g class=\"node \(kind)\">\(inside)</g>\n"
    }
    let list = node.members.map { "\(row)\($0)" }.joined(separator: " ")
    let members: HTML = list.isEmpty ? "" : " data-members=\"\(list)\""
    return "<a class=\"node \(kind)\" href=\"#\(row)\(layer)\"\(members)>\(inside)</a>\n"
  }

  /// The path from the lower edge of the first node to an arrowhead at the upper edge of the last.
  /// It moves sideways only between rows.
  private func curve(_ path: [Int], _ layout: LayeredLayout) -> String {
    func text(_ value: Double) -> String { number(value.rounded(), digits: 8) }
    func bottom(_ node: Int) -> Double { layout.centers[node].y + layout.heights[node] / 2 }
    var d = "M\(text(layout.centers[path[0]].x)) \(text(bottom(path[0])))"
    for (a, b) in zip(path, path.dropFirst()) {
      let (from, to) = (layout.centers[a], layout.centers[b])
      let (start, end) = (bottom(a), to.y - layout.heights[b] / 2)
      let bend = min(34, (end - start) / 2 + 8)
      d +=
        from.x.rounded() == to.x.rounded()
        ? "V\(text(end))"
        : "C\(text(from.x)) \(text(start + bend)) \(text(to.x)) \(text(end - bend)) "
          + "\(text(to.x)) \(text(end))"
      if b != path[path.count - 1] { d += "V\(text(bottom(b)))" }
    }
    return d + "m-4-7 4 7 4-7"
  }
}

/// The texts of a node, and its width.
private struct NodeBox {
  let title: String
  let lines: [String]
  /// The shape of the result, beside the edges that leave the node.
  let result: String
  let width: Double

  init(_ node: NetworkGraph.Node) {
    let isLayer = node.layer != nil
    title = (isLayer ? node.type : node.name).clipped(to: 44)
    let shown = node.weights.count > 3 ? Array(node.weights.prefix(2)) : node.weights
    let rest = node.weights.count - shown.count
    lines =
      [(isLayer ? node.name : node.type).clipped(to: 30)].filter { !$0.isEmpty }
      + shown.map { $0.clipped(to: 32) } + (rest > 0 ? ["and \(rest) more"] : [])
    result = isLayer ? node.shape.clipped(to: 32) : ""
    let capitals = title.count(where: \.isUppercase)
    let longest = lines.dropFirst().map(\.count).max() ?? 0
    let titleWidth = 7.6 * Double(title.count) + 2.2 * Double(capitals)
    let text = max(titleWidth, 7.2 * Double(lines.first?.count ?? 0), 6.6 * Double(longest))
    width = max(90, 20 + text.rounded())
  }
}

extension String {
  /// The text, with its middle removed if it is too long.
  fileprivate func clipped(to length: Int) -> String {
    count <= length
      ? self : "\(prefix(length / 3))…\(suffix(length - length / 3 - 1))"
  }
}
