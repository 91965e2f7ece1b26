/// A decoder appends the keys and values of a step to the previous ones. Attention reads both in
/// place instead of from a copy.
extension AttentionOperation {
  /// Reads keys and values from the inputs of nodes that move or concatenate them, if possible.
  ///
  /// - Parameters:
  ///   - inputs: the inputs of the node with this operation.
  ///   - producer: the node that computes a value.
  /// - Returns: whether anything has changed.
  mutating func readParts(
    of inputs: inout [Graph.ValueID], _ graph: Graph, producer: (Graph.ValueID) -> Graph.Node?
  ) -> Bool {
    guard readsInPlace else { return false }
    let firstValue = 1 + keys.count
    let rest = firstValue + values.count
    let newKeys = zip(keys, inputs[1...]).flatMap {
      origins(of: $0, $1, elements: depth, graph, producer)
    }
    let newValues = zip(values, inputs[firstValue...]).flatMap {
      origins(of: $0, $1, elements: columns, graph, producer)
    }
    let old = inputs
    inputs = [old[0]] + newKeys.map(\.input) + newValues.map(\.input) + old[rest...]
    keys = newKeys.map(\.part)
    values = newValues.map(\.part)
    return inputs != old
  }

  private func origins(
    of part: Part, _ input: Graph.ValueID, elements: Int, _ graph: Graph,
    _ producer: (Graph.ValueID) -> Graph.Node?
  ) -> [(part: Part, input: Graph.ValueID)] {
    guard let node = producer(input) else { return [(part, input)] }
    if let walk = part.walk.through(node, batch + [part.count, elements], graph),
      walk.column == 1
    {
      return origins(
        of: Part(walk: walk, count: part.count), node.inputs[0], elements: elements, graph,
        producer)
    }
    guard let join = node.operation as? JoinOperation,
      let parts = part.split(by: join, elements: elements, batch)
    else { return [(part, input)] }
    return zip(parts, node.inputs).flatMap { part, input in
      part.count == 0 ? [] : origins(of: part, input, elements: elements, graph, producer)
    }
  }
}

extension AttentionOperation.Part {
  /// The parts in the inputs of a concatenation, if none of the rows spans two of them.
  fileprivate func split(
    by join: JoinOperation, elements: Int, _ batch: [Int]
  ) -> [AttentionOperation.Part]? {
    let total = join.lengths.reduce(0, +)
    guard walk.row > 0, zip(walk.batch, batch).allSatisfy({ $1 == 1 || $0 % total == 0 })
    else { return nil }
    var parts: [AttentionOperation.Part] = []
    var next = walk.offset % total
    var left = count
    var start = 0
    for length in join.lengths {
      let room = start + length - elements - next
      let taken = room < 0 ? 0 : min(left, room / walk.row + 1)
      var part = AttentionOperation.Part(walk: walk, count: taken)
      part.walk.offset = walk.offset / total * length + next - start
      part.walk.batch = walk.batch.map { $0 / total * length }
      parts.append(part)
      next += taken * walk.row
      left -= taken
      start += length
      // A row that starts here must not end in the next input.
      if left > 0, next < start { return nil }
    }
    return left == 0 ? parts : nil
  }
}
