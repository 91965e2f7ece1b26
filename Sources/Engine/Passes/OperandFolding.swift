/// Lets matrix products read their operands through views, transposes, slices and factors, and
/// write transposed or scaled results; lets attention with few queries read keys and values through
/// views, slices and concatenations.
enum OperandFolding: Pass {
  static let name = "operand-folding"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    var readers: [Graph.ValueID: Int] = [:]
    for (index, node) in graph.nodes.enumerated() {
      for input in node.inputs { readers[input] = index }
    }
    var changed = false
    var removed: Set<Int> = []
    for index in graph.nodes.indices {
      if var attention = graph.nodes[index].operation as? AttentionOperation {
        var node = graph.nodes[index]
        let reads = attention.readParts(of: &node.inputs, graph) { value in
          producers[value].flatMap { removed.contains($0) ? nil : graph.nodes[$0] }
        }
        node.operation = attention
        graph.nodes[index] = node
        changed = changed || reads
        continue
      }
      guard var product = graph.nodes[index].operation as? MatrixProductOperation else { continue }
      var node = graph.nodes[index]
      for operand in 0..<2 {
        while let producer = producers[node.inputs[operand]], !removed.contains(producer),
          product.reads(operand, through: graph.nodes[producer], graph)
        {
          node.inputs[operand] = graph.nodes[producer].inputs[0]
          changed = true
        }
      }
      var output = node.outputs[0]
      var passed: Set<Int> = []
      while uses[output] == 1, let reader = readers[output], graph.nodes[reader].inputs.count == 1 {
        let next = graph.nodes[reader]
        passed.insert(reader)
        output = next.outputs[0]
        if next.operation is ViewOperation { continue }
        guard product.writes(through: next) else { break }
        node.outputs = [output]
        removed.formUnion(passed)
        changed = true
      }
      node.operation = product
      graph.nodes[index] = node
    }
    graph.removeNodes(removed)
    return changed
  }
}

extension MatrixProductOperation {
  /// Reads an operand directly from the input of the node that computes it, if possible.
  fileprivate mutating func reads(
    _ operand: Int, through node: Graph.Node, _ graph: Graph
  ) -> Bool {
    if let factor = (node.operation as? ElementwiseOperation)?.function.factor,
      node.inputs.count == 1
    {
      scale *= factor
      return true
    }
    if operand == 0 {
      guard let walk = a.through(node, batch + [rows, depth], graph), walk.column == 1 || depth == 1
      else { return false }
      a = walk
    } else {
      guard let walk = b.through(node, batch + [depth, columns], graph) else { return false }
      b = walk
    }
    return true
  }

  /// Writes the results directly to their locations in the copy, if possible.
  fileprivate mutating func writes(through node: Graph.Node) -> Bool {
    if let factor = (node.operation as? ElementwiseOperation)?.function.factor {
      scale *= factor
      return true
    }
    guard let copy = (node.operation as? StridedCopyOperation)?.inverse,
      let walk = output.through(copy, batch + [rows, columns]), walk.column == 1 || columns == 1
    else { return false }
    output = walk
    return true
  }
}

extension ScaledFunction {
  /// The factor, if the function is a multiplication by one number.
  var factor: Float? {
    guard function == .linear, shift == 0, beta.isAlways(0), case .scalar(let alpha) = alpha else {
      return nil
    }
    return alpha * scale
  }
}

extension MatrixWalk {
  /// The walk through the input of a node that only moves elements, if there is one.
  ///
  /// - Parameter sizes: the sizes of the batch, and the numbers of rows and columns.
  func through(_ node: Graph.Node, _ sizes: [Int], _ graph: Graph) -> MatrixWalk? {
    guard node.inputs.count == 1, node.outputs.count == 1 else { return nil }
    switch node.operation {
    case is ViewOperation: return self
    case let copy as StridedCopyOperation: return through(copy, sizes)
    case let slice as PlaneGatherOperation:
      return slice.copy(of: graph.shape(node.inputs[0])).flatMap { through($0, sizes) }
    default: return nil
    }
  }
}

extension PlaneGatherOperation {
  /// An equivalent copy of a row-major array, if the rows and columns are evenly spaced.
  fileprivate func copy(of input: Shape) -> StridedCopyOperation? {
    func step(_ positions: [Int]) -> Int? {
      guard let first = positions.first, first >= 0, positions.allSatisfy({ $0 >= 0 }) else {
        return nil
      }
      let step = positions.count > 1 ? positions[1] - first : 1
      return positions.indices.allSatisfy { positions[$0] == first + $0 * step } ? step : nil
    }
    guard let row = step(rows), let column = step(columns) else { return nil }
    return StridedCopyOperation(
      kind: kind, sizes: [input.images * input.channels, rows.count, columns.count],
      strides: [input.area, row * input.width, column], offset: rows[0] * input.width + columns[0])
  }
}
