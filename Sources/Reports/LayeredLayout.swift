/// Arranges the nodes of an acyclic graph in rows, so that edges point down and rarely cross, after
/// Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures"
/// (1981). Rows follow the longest path from the top; within a row, nodes are ordered by the mean
/// position of their neighbors and placed as close to it as their widths allow.
struct LayeredLayout {
  /// The centers of the nodes, and of the points at which edges cross rows.
  private(set) var centers: [(x: Double, y: Double)]
  /// The heights of the nodes, and the row heights of the points.
  private(set) var heights: [Double]
  /// The points of each edge, from its first node to its last.
  private(set) var paths: [[Int]] = []
  /// Edges that span more rows than this, or than a small graph allows, are drawn directly,
  /// ignoring the nodes in between.
  private static let longestSpan = 32
  private static let mostPoints = 40_000

  /// The left and right edges of all nodes and points.
  var sides: (Double, Double) {
    (
      zip(centers, widths).map { ($0.x - $1 / 2).rounded(.down) }.min() ?? 0,
      zip(centers, widths).map { ($0.x + $1 / 2).rounded(.up) }.max() ?? 0
    )
  }
  /// The lower edge of the last row; the upper edge of the first is at 0.
  private(set) var height = 0.0

  private let widths: [Double]
  private let nodeCount: Int
  private var rows: [[Int]] = []
  private var above: [[Int]]
  private var below: [[Int]]

  private static let gap = 24.0

  /// - Parameters:
  ///   - edges: pairs of nodes; the first is above the second.
  ///   - rowGap: the distance between two rows.
  init(widths: [Double], heights: [Double], edges: [(from: Int, to: Int)], rowGap: Double) {
    let ranks = Self.ranks(count: widths.count, edges)
    nodeCount = widths.count
    var widths = widths
    var ranks2 = ranks
    above = [[Int]](repeating: [], count: widths.count)
    below = above
    let longest = max(Self.longestSpan, Self.mostPoints / max(1, edges.count))
    for edge in edges {
      var path = [edge.from]
      let span = ranks[edge.to] - ranks[edge.from]
      if span <= longest {
        for rank in (ranks[edge.from] + 1)..<max(ranks[edge.from] + 1, ranks[edge.to]) {
          path.append(widths.count)
          widths.append(8)
          ranks2.append(rank)
          above.append([])
          below.append([])
        }
      }
      path.append(edge.to)
      if span <= longest {
        for (a, b) in zip(path, path.dropFirst()) {
          below[a].append(b)
          above[b].append(a)
        }
      }
      paths.append(path)
    }
    self.widths = widths
    rows = [[Int]](repeating: [], count: (ranks2.max() ?? -1) + 1)
    for node in widths.indices { rows[ranks2[node]].append(node) }
    var tallest = [Double](repeating: 0, count: rows.count)
    for node in heights.indices {
      tallest[ranks2[node]] = max(tallest[ranks2[node]], heights[node])
    }
    self.heights = heights + ranks2[heights.count...].map { tallest[$0] }
    var middles: [Double] = []
    for row in tallest {
      middles.append((middles.isEmpty ? 0 : height + rowGap) + row / 2)
      height = (middles.last ?? 0) + row / 2
    }
    centers = ranks2.map { (0, middles[$0]) }
    for row in rows.indices { pack(row) }
    for _ in 0..<4 {
      order(by: above, rows.indices)
      order(by: below, rows.indices.reversed())
    }
    for _ in 0..<max(6, min(40, 60_000 / (widths.count + 1))) {
      position(by: above, rows.indices)
      position(by: below, rows.indices.reversed())
    }
    position(by: above, rows.indices)
  }

  /// The length of the longest path to each node; a node without predecessors is placed just above
  /// its first successor.
  static func ranks(count: Int, _ edges: [(from: Int, to: Int)]) -> [Int] {
    var ranks = [Int](repeating: 0, count: count)
    var isFed = [Bool](repeating: false, count: count)
    let sorted = edges.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    for edge in sorted {
      ranks[edge.to] = max(ranks[edge.to], ranks[edge.from] + 1)
      isFed[edge.to] = true
    }
    var nearest: [Int: Int] = [:]
    for edge in sorted where !isFed[edge.from] {
      nearest[edge.from] = min(nearest[edge.from] ?? .max, ranks[edge.to])
    }
    for (node, rank) in nearest { ranks[node] = rank - 1 }
    return ranks
  }

  /// Places the nodes of a row side by side.
  private mutating func pack(_ row: Int) {
    var x = 0.0
    for node in rows[row] {
      centers[node].x = x + widths[node] / 2
      x += widths[node] + Self.gap
    }
  }

  private func mean(_ neighbors: [Int]) -> Double? {
    if neighbors.isEmpty { return nil }
    return neighbors.reduce(0) { $0 + centers[$1].x } / Double(neighbors.count)
  }

  /// Orders each row by the mean position of the nodes' neighbors.
  private mutating func order(by neighbors: [[Int]], _ order: some Sequence<Int>) {
    for index in order {
      let keys = rows[index].map { mean(neighbors[$0]) ?? centers[$0].x }
      let positions = rows[index].indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
      rows[index] = positions.map { rows[index][$0] }
      pack(index)
    }
  }

  /// Moves each row's nodes to the mean position of their neighbors, as closely as their order and
  /// widths allow: least squares under these constraints, solved by pooling adjacent violators. The
  /// first segment of a long edge has a low weight, so it yields to nodes and other segments.
  private mutating func position(by neighbors: [[Int]], _ order: some Sequence<Int>) {
    for index in order {
      var offset = 0.0
      var offsets: [Double] = []
      var blocks: [(sum: Double, weight: Double, count: Int)] = []
      for (position, node) in rows[index].enumerated() {
        if position > 0 {
          offset += (widths[rows[index][position - 1]] + widths[node]) / 2 + Self.gap
        }
        offsets.append(offset)
        let isLoose = node >= nodeCount && (above[node] + below[node]).contains { $0 < nodeCount }
        let weight = isLoose ? 1.0 : 8.0
        blocks.append((((mean(neighbors[node]) ?? centers[node].x) - offset) * weight, weight, 1))
        while blocks.count > 1,
          blocks[blocks.count - 2].sum / blocks[blocks.count - 2].weight
            > blocks[blocks.count - 1].sum / blocks[blocks.count - 1].weight
        {
          let last = blocks.removeLast()
          blocks[blocks.count - 1].sum += last.sum
          blocks[blocks.count - 1].weight += last.weight
          blocks[blocks.count - 1].count += last.count
        }
      }
      var position = 0
      for block in blocks {
        for _ in 0..<block.count {
          centers[rows[index][position]].x = block.sum / block.weight + offsets[position]
          position += 1
        }
      }
    }
  }
}
