extension Report {
  /// The graph, folded and complete. The script searches, folds, zooms and moves it.
  package mutating func add(_ heading: String, graph: NetworkGraph) {
    let folded = graph.folded
    let isFolded = folded.nodes.count < graph.nodes.count
    let whole = viewer(graph, "the network's layers", "whole")
    let few = isFolded ? viewer(folded, "the network, with chains of layers folded", "folded") : ""
    guard let either = whole ?? few else {
      return add(
        heading,
        "<p>A graph of \(graph.nodes.count) nodes is too large to draw: see the table of layers.</p>\n"
      )
    }
    let checked: HTML = graph.nodes.count > 60 ? " checked" : ""
    let fold: HTML =
      isFolded && whole != nil && few != nil
      ? "<label><input type=\"checkbox\"\(checked)> fold chains of layers</label>" : ""
    add(
      heading,
      """
      <div class="graphs">
      <div class="tools" hidden>
      <label>Search <input type="search" placeholder="name or type"></label><output></output>
      \(fold)
      <span class="faint">Drag or press arrow keys to move, Ctrl with the wheel or + and − to zoom, 0 to show \
      all, 1 to reset. Click a layer to go to its row below.</span>
      </div>
      \(fold.source.isEmpty ? either : [few ?? "", whole ?? ""].joined())</div>

      """)
  }

  /// Nil if there are too many nodes.
  private func viewer(_ graph: NetworkGraph, _ label: String, _ name: HTML) -> HTML? {
    guard let image = try? GraphImage(graph).element(label: label) else { return nil }
    return "<div class=\"viewer \(name)\" tabindex=\"0\">\n\(image)</div>\n"
  }
}
