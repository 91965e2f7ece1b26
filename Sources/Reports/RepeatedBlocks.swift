/// Adjacent blocks of at least two layers with the same types in the same order.
struct RepeatedBlocks {
  /// Ranges of nodes, in ascending order. Nodes are in topological order, so replacing a range with
  /// one node keeps the graph acyclic.
  private(set) var blocks: [Range<Int>] = []

  private let nodes: [NetworkGraph.Node]
  /// Equal for layers with the same type and number of inputs; unique for other nodes.
  private let types: [Int]
  /// For each node, the number of earlier results that it or later nodes read.
  private let crossings: [Int]

  private static let mostKinds = 64

  init(_ graph: NetworkGraph) {
    nodes = graph.nodes
    var inputCounts = [Int](repeating: 0, count: nodes.count)
    var lastReaders = Array(nodes.indices)
    for edge in graph.edges {
      inputCounts[edge.to] += 1
      lastReaders[edge.from] = max(lastReaders[edge.from], edge.to)
    }
    var known: [String: Int] = [:]
    types = graph.nodes.enumerated().map { index, node in
      if node.layer == nil { return -1 - index }
      let type = "\(inputCounts[index]) \(node.type)"
      known[type] = known[type] ?? known.count
      return known[type] ?? 0
    }
    var crossings = [Int](repeating: 0, count: nodes.count + 2)
    for (node, reader) in lastReaders.enumerated() {
      crossings[node + 1] += 1
      crossings[reader + 1] -= 1
    }
    for index in crossings.indices.dropFirst() { crossings[index] += crossings[index - 1] }
    self.crossings = crossings
    var ranges = [nodes.indices]
    for _ in 0..<Self.mostKinds {
      guard let range = ranges.popLast() else { break }
      guard let found = largest(in: range) else { continue }
      ranges += [found.upperBound..<range.upperBound, range.lowerBound..<found.lowerBound]
    }
    blocks.sort { $0.lowerBound < $1.lowerBound }
  }

  /// Adds the repeated blocks that cover most of a range, and returns what they cover.
  private mutating func largest(in range: Range<Int>) -> Range<Int>? {
    var best = (start: 0, end: 0, period: 0, covered: 0)
    let longest = min(512, 2_000_000 / (types.count + 1), range.count / 2)
    for period in 2..<max(2, longest + 1) {
      var equal = 0
      for start in (range.lowerBound..<(range.upperBound - period)).reversed() {
        equal = types[start] == types[start + period] ? equal + 1 : 0
        let covered = (equal / period + 1) * period
        let isStart = start == range.lowerBound || types[start - 1] != types[start + period - 1]
        if isStart, equal >= period, covered > best.covered,
          Set(types[start..<(start + period)]).count > 1
        {
          best = (start, start + equal + period, period, covered)
        }
      }
    }
    guard best.covered > 0 else { return nil }
    // A block may start at any layer; the best boundary is crossed by the fewest results. A short
    // block should start with weights; in a long one, names should share the longest prefix.
    let period = best.period
    let starts = (best.start..<(best.start + period)).filter { $0 + 2 * period <= best.end }
    func rank(_ start: Int) -> [Int] {
      let count = (best.end - start) / period
      let common = nodes[start].name.commonPrefix(with: nodes[start + period - 1].name).count
      let isHeaded = period > 4 || !nodes[start].weights.isEmpty
      return [crossings[start + period], -count, isHeaded ? 0 : 1, -common, start]
    }
    let start = starts.min { rank($0).lexicographicallyPrecedes(rank($1)) } ?? best.start
    let count = (best.end - start) / period
    for index in 0..<count {
      blocks.append((start + index * period)..<(start + (index + 1) * period))
    }
    return start..<(start + count * period)
  }
}

extension StringProtocol {
  func commonPrefix(with other: some StringProtocol) -> String {
    String(zip(self, other).prefix { $0 == $1 }.map(\.0))
  }
}
