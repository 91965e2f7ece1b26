import CoreMLModel
import TensorCore

extension NetworkWriter {
  /// The largest product of all sizes for which the elements are multiplied one by one.
  private static let productLimit = 1 << 28

  /// a · b over the last axis of `a` and the one before the last of `b`, for all axes before these:
  /// `[…, m, k]` times `[…, k, n]`. At most one axis, of the same size in both, stands before.
  ///
  /// Version 1 of the specification has no product of two matrices that are computed: both are
  /// repeated to `k × m × n`, multiplied and summed up.
  mutating func matrixProduct(
    _ a: KerasTensor, _ b: KerasTensor, _ name: String, _ call: LayerCall
  ) throws -> KerasTensor {
    let rank = a.rank
    guard (3...4).contains(rank), b.rank == rank,
      rank == 3 || a.shape[1] == b.shape[1]
    else {
      throw call.unsupported(
        "the product of \(a.shapeText) and \(b.shapeText)")
    }
    guard let rows = a.shape[rank - 2], let columns = b.shape[rank - 1],
      let inner = a.shape[rank - 1], b.shape[rank - 2] == inner, !a.isGuess, !b.isGuess
    else {
      throw call.error(
        "its inputs \(a.shapeText) and \(b.shapeText) do not fit or have an unknown size",
        code: .mismatch, hint: "fix it with --input-shape")
    }
    let outer = rank == 4 ? a.shape[1] ?? 1 : 1
    guard
      try checkedProduct([rows, columns, inner, outer], limit: Limits.tensorElements)
        <= Self.productLimit
    else {
      throw call.error(
        "a product of matrices \(a.shapeText) and \(b.shapeText) is too large",
        code: .limitExceeded)
    }
    let before: [BlobAxis] = rank == 4 ? [.sequence] : []
    // k along the channels, m along the height, n along the width.
    let left = relaid(a, to: TensorLayout(axes: before + [.height, .channel]), for: name + "_a")
    let right = relaid(b, to: TensorLayout(axes: before + [.channel, .width]), for: name + "_b")
    func repeated(_ blob: String, _ factors: [Int], _ name: String) -> String {
      if factors == [1, 1] { return blob }
      var upsample = Upsample()
      upsample.mode = .nearest
      upsample.scalingFactor = factors
      return add(name, upsample, [blob])
    }
    let product = product(
      repeated(left.blob, [1, columns], name + "__columns__"),
      repeated(right.blob, [rows, 1], name + "__rows__"), name + "__products__")
    var result = a
    result.blob = reduced(.sum, .c, product, name)
    result.shape[rank - 1] = columns
    result.layout = TensorLayout(axes: before + [.height, .width])
    result.mask = nil
    return result
  }

  /// The last two axes exchanged: nothing moves.
  func transposed(_ tensor: KerasTensor) -> KerasTensor {
    var result = tensor
    let last = tensor.rank - 1
    result.shape.swapAt(last, last - 1)
    result.layout.axes.swapAt(last - 1, last - 2)
    return result
  }

  /// Softmax over an axis.
  mutating func softmax(_ tensor: KerasTensor, axis: Int, _ name: String) -> KerasTensor {
    withChannelAxis(axis, of: [tensor], for: name) { network, tensors in
      var result = tensors[0]
      result.blob = network.add(name, Softmax(), [result.blob])
      return result
    }
  }
}
