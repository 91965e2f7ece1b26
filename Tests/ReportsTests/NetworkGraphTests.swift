import Testing

@testable import Reports

/// Two branches of one and of two layers.
private let graph = NetworkGraph([
  part("x", .input, []), part("a", .layer, ["x"], layer: 0), part("b", .layer, ["a"], layer: 1),
  part("c", .layer, ["b"], layer: 2), part("d", .layer, ["a"], layer: 3),
  part("sum", .layer, ["c", "d"], layer: 4),
  part("y", .output, ["sum"]),
])

private func part(
  _ name: String, _ kind: NetworkGraph.Kind, _ inputs: [String], layer: Int? = nil
) -> NetworkGraph.Part {
  NetworkGraph.Part(
    NetworkGraph.Node(name: name, kind: kind, type: "add", shape: "3", layer: layer),
    inputs: inputs, outputs: kind == .output ? [] : [name])
}

@Suite struct NetworkGraphTests {
  @Test func blobsAreEdges() {
    #expect(
      graph.edges.map { [$0.from, $0.to] } == [
        [0, 1], [1, 2], [2, 3], [1, 4], [3, 5], [4, 5], [5, 6],
      ])
    #expect(graph.edges.map(\.blob) == ["x", "a", "b", "a", "c", "d", "sum"])
  }

  @Test func theLastWriterOfABlobCounts() {
    let inPlace = NetworkGraph([
      part("x", .input, []),
      NetworkGraph.Part(
        NetworkGraph.Node(name: "relu", kind: .layer, type: "relu", shape: "", layer: 0),
        inputs: ["x"], outputs: ["x"]),
      part("y", .layer, ["x"], layer: 1),
    ])
    #expect(inPlace.edges.map { [$0.from, $0.to] } == [[0, 1], [1, 2]])
  }

  @Test func runsOfLayersFold() {
    let folded = graph.folded
    #expect(folded.nodes.map(\.name) == ["x", "a", "b … c", "d", "sum", "y"])
    #expect(folded.nodes[2].type == "2 layers" && folded.nodes[2].kind == .folded)
    #expect(
      folded.edges.map { [$0.from, $0.to] } == [
        [0, 1], [1, 2], [1, 3], [2, 4], [3, 4], [4, 5],
      ])
  }

  @Test func textsOfOtherPrograms() {
    let name = "q\"\\<b>\u{202E}"
    let hostile = NetworkGraph([part(name, .input, [])])
    #expect(GraphText(hostile).dot.contains(#"label="q\"\\<b>\\u{202e}\nadd\n3""#))
    let markdown = GraphText(hostile).markdown(title: "t")
    #expect(markdown.contains("n0([\"q#34;#92;#60;b#62;"))
    #expect(!markdown.contains("\u{202E}"))
  }

  @Test func nodesOfARowDoNotOverlapAndEdgesPointDown() throws {
    var state: UInt64 = 7
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    let count = 300
    let edges = (1..<count).flatMap { to in
      (0..<(1 + random(3))).map { _ in (from: random(to), to: to) }
    }
    let widths = (0..<count).map { _ in Double(40 + random(200)) }
    let layout = LayeredLayout(widths: widths, edges: edges, rowHeight: 70)
    for edge in edges { #expect(layout.centers[edge.from].y < layout.centers[edge.to].y) }
    let rows = Dictionary(grouping: 0..<count) { layout.centers[$0].y }
    for row in rows.values {
      let sorted = row.sorted { layout.centers[$0].x < layout.centers[$1].x }
      for (a, b) in zip(sorted, sorted.dropFirst()) {
        #expect(layout.centers[b].x - layout.centers[a].x >= (widths[a] + widths[b]) / 2)
      }
    }
  }

  @Test func aChainIsStraight() {
    let layout = LayeredLayout(
      widths: [40, 200, 90], edges: [(0, 1), (1, 2)], rowHeight: 70)
    #expect(Set(layout.centers.map(\.x)).count == 1)
    #expect(layout.centers.map(\.y) == [0, 70, 140])
  }
}
