import TensorCore

extension Report {
  /// Adds the graph, both with repeated blocks folded and complete. The script searches, folds and
  /// zooms, and shows a clicked layer, from the table of layers that follows.
  package mutating func add(_ heading: String, graph: NetworkGraph) {
    graphCount += 1
    let (folded, count) = (graph.folded, groupedText(graph.nodes.count))
    let graphs = folded.nodes.count < graph.nodes.count ? [folded, graph] : [graph]
    let views = zip(["whole", "folded"], graphs.reversed()).reversed().compactMap { name, graph in
      (try? GraphImage(graph).element(label: "the \(name) network", row: row)).map {
        "<div class=\"viewer \(name)\" tabindex=\"0\">\n\($0)</div>\n" as HTML
      }
    }
    if views.isEmpty {
      return add(heading, "<p>A graph of \(count) nodes is too large to draw.</p>\n")
    }
    let checked: HTML = graph.nodes.count > 60 ? " checked" : ""
    let fold: HTML =
      views.count > 1
      ? "<label><input type=\"checkbox\"\(checked)> fold repeated blocks</label>" : ""
    add(
      heading,
      """
      <div class="tools" hidden>
      <input type="search" placeholder="Search \(count) nodes" aria-label="Search"><output></output>\(fold)
      <span class="zoom"><button value="-" title="smaller">−</button> \
      <button value="+" title="larger">+</button> <button value="0" title="show all">Fit</button></span>
      </div>
      <div class="stage">
      \(views.joined())<aside class="panel" hidden></aside>
      </div>

      """, kind: "graphs")
  }
}
