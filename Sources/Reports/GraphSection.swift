import TensorCore

extension Report {
  /// The graph, with repeated blocks folded and complete. The script searches, folds and zooms, and
  /// shows the layer that is clicked, from the table of layers that follows.
  package mutating func add(_ heading: String, graph: NetworkGraph) {
    graphCount += 1
    let folded = graph.folded
    let few =
      folded.nodes.count < graph.nodes.count
      ? viewer(folded, "the network, with repeated blocks folded", "folded", row) : nil
    let whole = viewer(graph, "the network's layers", "whole", row)
    let count = groupedText(graph.nodes.count)
    if few == nil, whole == nil {
      add(
        heading, "<p>A graph of \(count) nodes is too large to draw: see the table of layers.</p>\n"
      )
    } else {
      let checked: HTML = graph.nodes.count > 60 ? " checked" : ""
      let fold: HTML =
        few != nil && whole != nil
        ? "<label><input type=\"checkbox\"\(checked)> fold repeated blocks</label>" : ""
      add(
        heading,
        """
        <div class="tools" hidden>
        <input type="search" placeholder="Search \(count) nodes" aria-label="Search"><output></output>\(fold)
        <span class="zoom"><button title="smaller (−)">−</button><button title="larger (+)">+</button>\
        <button title="show all (0)">Fit</button></span>
        </div>
        <div class="stage">
        \([few, whole].compactMap(\.self).joined())<aside class="panel" hidden></aside>
        </div>

        """, kind: "graphs")
    }
  }

  /// Nil if there are too many nodes.
  private func viewer(
    _ graph: NetworkGraph, _ label: String, _ name: HTML, _ row: String
  ) -> HTML? {
    guard let image = try? GraphImage(graph).element(label: label, row: row) else { return nil }
    return "<div class=\"viewer \(name)\" tabindex=\"0\">\n\(image)</div>\n"
  }
}
