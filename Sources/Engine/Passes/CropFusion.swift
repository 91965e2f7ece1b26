/// Lets a convolution that adds a cropped blob read the original blob from the crop's origin.
enum CropFusion: Pass {
  static let name = "crop-fusion"

  static func run(_ graph: inout Graph, _ context: PassContext) throws -> Bool {
    try fuse(&graph, input: 1) { producer, node, _ in
      guard var convolution = node.operation as? ConvolutionOperation, convolution.hasResidual,
        let start = (producer.operation as? PlaneGatherOperation)?.cropStart
      else { return nil }
      convolution.residualStart[0] += start.row
      convolution.residualStart[1] += start.column
      return convolution
    }
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
