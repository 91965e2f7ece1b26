import Testing

@testable import Reports

/// Two branches, of one and of two layers.
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

  private func chain(_ types: [String]) -> NetworkGraph {
    NetworkGraph(
      [part("x", .input, [])]
        + types.enumerated().map { index, type in
          NetworkGraph.Part(
            NetworkGraph.Node(name: "l\(index)", kind: .layer, type: type, layer: index),
            inputs: [index == 0 ? "x" : "b\(index - 1)"], outputs: ["b\(index)"])
        } + [part("y", .output, ["b\(types.count - 1)"])])
  }

  @Test func repeatedBlocksFold() {
    let folded = chain(["pad", "conv", "relu", "conv", "relu", "conv", "relu", "softmax"]).folded
    #expect(folded.nodes.map(\.name) == ["x", "l0", "l1 … l2", "l3 … l4", "l5 … l6", "l7", "y"])
    #expect(folded.nodes[2].type == "conv + relu" && folded.nodes[2].kind == .folded)
    #expect(folded.nodes[2].members == [1, 2] && folded.nodes[4].members == [5, 6])
    #expect(folded.edges.map { [$0.from, $0.to] } == (0..<6).map { [$0, $0 + 1] })
  }

  /// Two blocks a, b, sum; the second lacks the layer that both need.
  @Test func layersThatBlocksShareStayOutside() {
    func layer(_ name: String, _ type: String, _ inputs: [String], _ index: Int)
      -> NetworkGraph.Part
    {
      NetworkGraph.Part(
        NetworkGraph.Node(name: name, kind: .layer, type: type, layer: index), inputs: inputs,
        outputs: [name])
    }
    let folded = NetworkGraph([
      part("x", .input, []), layer("first", "embedding", ["x"], 0),
      layer("a1", "conv", ["first"], 1), layer("mask", "neg", ["x"], 2),
      layer("b1", "add", ["a1", "mask"], 3), layer("c1", "relu", ["b1"], 4),
      layer("a2", "conv", ["c1"], 5), layer("b2", "add", ["a2", "mask"], 6),
      layer("c2", "relu", ["b2"], 7), part("y", .output, ["c2"]),
    ]).folded
    #expect(folded.nodes.map(\.name) == ["x", "first", "mask", "a1 … c1", "a2 … c2", "y"])
    for edge in folded.edges { #expect(edge.from < edge.to) }
  }

  /// A network never becomes one box: blocks fold only if there are two, and differ inside.
  @Test func nothingElseFolds() {
    #expect(chain([String](repeating: "dense", count: 90)).folded.nodes.count == 92)
    #expect(chain(["conv", "relu", "pool", "softmax"]).folded.nodes.count == 6)
    #expect(graph.folded.nodes.count == graph.nodes.count)
  }

  @Test func typesHaveFamilies() {
    let families: [(String, LayerFamily)] = [
      ("convolution", .convolution), ("conv_transpose", .convolution),
      ("batchnorm", .normalization),
      ("layer_norm", .normalization), ("max_pool", .pooling), ("softmaxND", .activation),
      ("biDirectionalLSTM", .recurrent), ("innerProduct", .dense), ("batchedMatmul", .dense),
      ("expand_dims", .shape), ("upsample", .shape), ("resize_bilinear", .shape),
      ("concatND", .merge),
      ("reduce_mean", .arithmetic), ("real_div", .arithmetic), ("exp", .arithmetic),
      ("loadConstantND", .constant), ("constexpr_lut_to_dense", .constant),
      ("nonMaximumSuppression", .other), ("while_loop", .other),
    ]
    for (type, family) in families { #expect(LayerFamily(type) == family, "\(type)") }
  }

  /// A box has type, name and weights; there are a color, an arrowhead and a shape.
  @Test func boxes() throws {
    let node = NetworkGraph.Node(
      name: "c1", kind: .layer, type: "convolution", shape: "8×8×4", layer: 0,
      weights: ["weights 4×3×3×3", "bias 4"])
    let graph = NetworkGraph([
      part("x", .input, []), NetworkGraph.Part(node, inputs: ["x"], outputs: ["c"]),
    ])
    let image = try GraphImage(graph).file()
    for text in [
      "<g class=\"node layer convolution\"", ">convolution</text>", ">c1</text>",
      ">weights 4×3×3×3</text>", ">bias 4</text>", ">8×8×4</text>", "m-4-7 4 7 4-7\"",
    ] {
      #expect(image.contains(text), "\(text)")
    }
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
    let heights = (0..<count).map { _ in Double(24 + random(60)) }
    let layout = LayeredLayout(widths: widths, heights: heights, edges: edges, rowGap: 40)
    for edge in edges {
      let (from, to) = (layout.centers[edge.from].y, layout.centers[edge.to].y)
      #expect(to - from >= (heights[edge.from] + heights[edge.to]) / 2 + 40)
    }
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
      widths: [40, 200, 90], heights: [20, 40, 20], edges: [(0, 1), (1, 2)], rowGap: 40)
    #expect(Set(layout.centers.map(\.x)).count == 1)
    #expect(layout.centers.map(\.y) == [10, 80, 150])
  }
}

extension NetworkGraph.Node {
  init(
    name: String, kind: NetworkGraph.Kind, type: String, shape: String = "", layer: Int?,
    weights: [String] = []
  ) {
    self.init(name: name, kind: kind, type: type)
    (self.shape, self.layer, self.weights) = (shape, layer, weights)
  }
}
