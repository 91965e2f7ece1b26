import Kernels

/// Replaces an element function that layers spell out, such as GELU as a polynomial, with one step.
/// It is recognized by its values at some points, whatever computes them.
enum FunctionRecognition: Pass {
  static let name = "function-recognition"

  private static let functions = [
    ScaledFunction(.gelu), ScaledFunction(.tanhGelu), ScaledFunction(.mish),
    ScaledFunction(.hardSwish, alpha: 1 / 6, beta: 0.5),
  ]

  /// Dense where the functions bend, and a few far away.
  private static let points: [Float] =
    (-128...128).map { Float($0) / 16 } + [-1e6, -1e3, -30, -12, -1e-3, -1e-6]
    + [1e-6, 1e-3, 12, 30, 1e3, 1e6]

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    var removed: Set<Int> = []
    lazy var expected = functions.map { $0.values(points, context.kernels) }
    for last in graph.nodes.indices.reversed() where !removed.contains(last) {
      guard let part = part(endingWith: last, graph, uses, producers),
        let values = values(of: part, graph, context.kernels),
        let index = expected.firstIndex(where: { isClose(values, $0) })
      else { continue }
      graph.nodes[last].operation = ElementwiseOperation(function: functions[index])
      graph.nodes[last].inputs = [part.input]
      removed.formUnion(part.nodes.dropLast())
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }

  /// Nodes that compute a value from a single one, in order.
  private struct Part {
    var input: Graph.ValueID
    var nodes: [Int]
  }

  /// The largest part that ends with a node and whose other results nothing else reads.
  private static func part(
    endingWith last: Int, _ graph: Graph, _ uses: [Int], _ producers: [Int?]
  ) -> Part? {
    let shape = graph.shape(graph.nodes[last].outputs[0])
    var (nodes, open, reads): ([Int], Set<Graph.ValueID>, [Graph.ValueID: Int]) = ([], [], [:])
    var next: Int? = last
    var largest: Part?
    while let index = next, nodes.count < 32 {
      let node = graph.nodes[index]
      guard node.operation.isPlainFunction, node.outputs.count == 1,
        graph.shape(node.outputs[0]) == shape,
        node.inputs.allSatisfy({ graph.shape($0) == shape && graph.values[$0].constant == nil })
      else { break }
      nodes.append(index)
      open.remove(node.outputs[0])
      for input in node.inputs {
        open.insert(input)
        reads[input, default: 0] += 1
      }
      if open.count == 1, let input = open.first, nodes.count > 2 {
        largest = Part(input: input, nodes: nodes.reversed())
      }
      // Values are read after they are computed, so the latest node is complete.
      next = open.compactMap { producers[$0] }.max()
      if let next {
        let value = graph.nodes[next].outputs[0]
        if open.contains(value), reads[value] != uses[value] { break }
      }
    }
    return largest
  }

  private static func values(
    of part: Part, _ graph: Graph, _ kernels: any KernelTable.Type
  ) -> [Float]? {
    var known = [part.input: points]
    for index in part.nodes {
      let node = graph.nodes[index]
      let inputs = node.inputs.compactMap { known[$0] }
      guard let first = inputs.first, inputs.count == node.inputs.count else { return nil }
      if let function = (node.operation as? ElementwiseOperation)?.function {
        known[node.outputs[0]] = function.values(first, kernels)
      } else {
        let isSum = (node.operation as? CombineOperation)?.function == .add
        known[node.outputs[0]] = inputs.dropFirst().reduce(first) { result, operand in
          zip(result, operand).map { isSum ? $0 + $1 : $0 * $1 }
        }
      }
    }
    return part.nodes.last.flatMap { known[graph.nodes[$0].outputs[0]] }
  }

  private static func isClose(_ values: [Float], _ expected: [Float]) -> Bool {
    zip(points, zip(values, expected)).allSatisfy { x, pair -> Bool in
      let size: Float = max(abs(pair.1), min(1, abs(x)))
      return abs(pair.0 - pair.1) <= 2e-6 * size
    }
  }
}

extension NodeOperation {
  /// Whether the results depend on the elements alone, and not on their channel.
  fileprivate var isPlainFunction: Bool {
    if let function = (self as? ElementwiseOperation)?.function { return !function.isPerChannel }
    return [.add, .multiply].contains((self as? CombineOperation)?.function)
  }
}

extension ScaledFunction {
  fileprivate func values(_ points: [Float], _ kernels: any KernelTable.Type) -> [Float] {
    [Float](unsafeUninitializedCapacity: points.count) { buffer, count in
      points.withUnsafeBufferPointer { points in
        guard let input = points.baseAddress, let output = buffer.baseAddress else { return }
        kernels.unary(
          UnaryArguments(
            function: function, input: input, output: output, count: points.count, parameters(0)))
      }
      count = points.count
    }
  }
}
