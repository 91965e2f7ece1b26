import CoreMLModel
import TensorCore

/// Keeps a band of each matrix.
protocol MatrixBandOperationLayer: OneResultLayer, MatrixBandLayer {}

extension MatrixBandOperationLayer {
  func operation(_ layer: LayerCall) throws -> Variable {
    let x = try layer.array()
    let (lowest, highest) = diagonals
    if (lowest ?? 0) <= 0 && (highest ?? 0) >= 0 {
      return try layer.add(
        "band_part", x,
        [("lower", .int(lowest.map { -$0 } ?? -1)), ("upper", .int(highest ?? -1))])
    }
    // The operation always keeps the main diagonal.
    let (rows, columns) = (x.shape[x.rank - 2], x.shape[x.rank - 1])
    let kept = (0..<rows).flatMap { row in
      (0..<columns).map { column -> Bool in
        let diagonal = column - row
        return diagonal >= lowest ?? diagonal && diagonal <= highest ?? diagonal
      }
    }
    let mask = try layer.builder.constant(
      MILValue(flags: kept, [rows, columns]), name: "\(layer.name)_mask")
    return try layer.select(
      layer.broadcast(mask, to: x.shape), x,
      layer.make("fill", [("shape", .ints(x.shape)), ("value", .number(0))], shape: x.shape))
  }
}

extension MatrixBandPart: MatrixBandOperationLayer {}
extension LowerTriangular: MatrixBandOperationLayer {}
extension UpperTriangular: MatrixBandOperationLayer {}

extension LayerCall {
  /// Selects elements of `a` where the condition holds, otherwise of `b`; all have the same shape.
  func select(_ condition: Variable, _ a: Variable, _ b: Variable) throws -> Variable {
    try builder.add(
      "select", name,
      [("cond", .variable(condition)), ("a", .variable(a)), ("b", .variable(b))], type: a.type,
      shape: a.shape)
  }
}
