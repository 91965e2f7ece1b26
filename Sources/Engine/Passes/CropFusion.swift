/// Lets a convolution that adds a cropped blob read the original blob from the crop's origin.
enum CropFusion: Pass {
  static let name = "crop-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) -> Bool {
    let uses = graph.useCounts()
    let producers = graph.producers()
    var removed: Set<Int> = []
    for index in graph.nodes.indices {
      guard var convolution = graph.nodes[index].operation as? ConvolutionOperation,
        convolution.hasResidual, graph.nodes[index].inputs.count == 2
      else { continue }
      let residual = graph.nodes[index].inputs[1]
      guard uses[residual] == 1, let producer = producers[residual],
        let start = (graph.nodes[producer].operation as? PlaneGatherOperation)?.cropStart
      else { continue }
      convolution.residualStart[0] += start.row
      convolution.residualStart[1] += start.column
      graph.nodes[index].operation = convolution
      graph.nodes[index].inputs[1] = graph.nodes[producer].inputs[0]
      removed.insert(producer)
    }
    graph.removeNodes(removed)
    return !removed.isEmpty
  }
}

extension PlaneGatherOperation {
  /// The first row and column, if rows and columns are contiguous.
  fileprivate var cropStart: (row: Int, column: Int)? {
    guard let row = rows.first, let column = columns.first, row >= 0, column >= 0,
      rows == Array(row..<row + rows.count), columns == Array(column..<column + columns.count)
    else { return nil }
    return (row, column)
  }
}
