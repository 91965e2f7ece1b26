import TensorCore

/// A network's graph as an SVG image.
package struct GraphImage: Sendable {
  /// More nodes are neither arranged in reasonable time nor readable.
  package static let largestCount = 10_000

  let graph: NetworkGraph
  private static let height = 40.0
  private static let rowHeight = 76.0

  package init(_ graph: NetworkGraph) { self.graph = graph }

  /// The colors, which follow the reader's preference for light or dark.
  static let style = Report.text(PackageResources.graph_css)

  /// A file of its own.
  ///
  /// - Throws: `.unsupported` if the graph has too many nodes.
  package func file() throws -> String {
    let (content, box) = try drawn(links: false)
    let file: HTML = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="\(box)" width="\(box.width)" \
      height="\(box.height)">
      <style>
      :root { background: #fff; }
      @media (prefers-color-scheme: dark) { :root { background: #16181b; } }
      \(HTML(stringLiteral: Self.style))</style>
      \(content)</svg>

      """
    return file.source
  }

  /// A part of a page; each layer is a link to its row in the table of layers.
  func element(label: String) throws -> HTML {
    let (content, box) = try drawn(links: true)
    return "<svg viewBox=\"\(box)\" role=\"img\" aria-label=\"\(label)\">\n\(content)</svg>\n"
  }

  private func drawn(links: Bool) throws -> (HTML, NodeBox) {
    guard graph.nodes.count <= Self.largestCount else {
      throw ModelError(
        .unsupported,
        "a graph of \(groupedText(graph.nodes.count)) nodes is not drawn; the most are "
          + groupedText(Self.largestCount),
        hint: "write it as text, with the extension .dot or .md")
    }
    let labels = graph.nodes.map { node in
      (
        name: node.name.clipped(to: 40),
        type: [node.type, node.shape].filter { !$0.isEmpty }.joined(separator: "  ")
          .clipped(to: 48)
      )
    }
    let widths = labels.map { max(80, 24 + 6.6 * Double(max($0.name.count, $0.type.count))) }
    let layout = LayeredLayout(
      widths: widths, edges: graph.edges.map { ($0.from, $0.to) }, rowHeight: Self.rowHeight)
    var content: HTML = "<g class=\"graph\">\n"
    for (edge, path) in zip(graph.edges, layout.paths) {
      content.append(
        "<path d=\"\(curve(path.map { layout.centers[$0] }))\"><title>\(edge.blob)</title></path>\n"
      )
    }
    for (index, node) in graph.nodes.enumerated() {
      let (x, y) = layout.centers[index]
      let box: HTML = """
        <g class="node \(node.kind.rawValue)"><title>\(node.name)</title>\
        <rect x="\(x - widths[index] / 2)" y="\(y - Self.height / 2)" width="\(widths[index])" \
        height="\(Self.height)" rx="6"/><text x="\(x)" y="\(y - 3)">\(labels[index].name)</text>\
        <text class="type" x="\(x)" y="\(y + 13)">\(labels[index].type)</text></g>
        """
      let isLink = links && node.layer != nil
      content.append(
        isLink ? "<a href=\"#layer-\(node.layer ?? 0)\">\(box)</a>\n" : "\(box)\n")
    }
    content.append("</g>\n")
    return (content, NodeBox(layout, widths, Self.height))
  }

  /// From the lower edge of the first node to the upper edge of the last.
  private func curve(_ points: [(x: Double, y: Double)]) -> String {
    var points = points
    points[0].y += Self.height / 2
    points[points.count - 1].y -= Self.height / 2
    func text(_ value: Double) -> String { number(value, digits: 6) }
    var path = "M\(text(points[0].x)) \(text(points[0].y))"
    for (a, b) in zip(points, points.dropFirst()) {
      let bend = min(28, (b.y - a.y) / 2)
      path +=
        "C\(text(a.x)) \(text(a.y + bend)) \(text(b.x)) \(text(b.y - bend)) "
        + "\(text(b.x)) \(text(b.y))"
    }
    return path
  }
}

/// What an image shows: `x y width height`.
private struct NodeBox {
  let x: Double
  let y: Double
  let width: Double
  let height: Double

  init(_ layout: LayeredLayout, _ widths: [Double], _ nodeHeight: Double) {
    let centers = layout.centers
    let left = zip(centers, widths).map { $0.x - $1 / 2 } + centers.map(\.x)
    let right = zip(centers, widths).map { $0.x + $1 / 2 } + centers.map(\.x)
    x = (left.min() ?? 0) - 12
    y = (centers.map(\.y).min() ?? 0) - nodeHeight / 2 - 12
    width = (right.max() ?? 0) + 12 - x
    height = (centers.map(\.y).max() ?? 0) + nodeHeight / 2 + 12 - y
  }
}

extension HTML.StringInterpolation {
  fileprivate mutating func appendInterpolation(_ box: NodeBox) {
    appendInterpolation("\(box.x) \(box.y) \(box.width) \(box.height)" as HTML)
  }
}

extension String {
  /// The beginning and the end of a text that is too long.
  fileprivate func clipped(to length: Int) -> String {
    count <= length ? self : prefix(length / 2) + "…" + suffix(length / 2 - 1)
  }
}
