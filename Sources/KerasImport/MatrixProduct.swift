import CoreMLModel
import TensorCore

extension KerasWriter {
  /// a · b for matrices in the last two axes, `[…, m, k]` times `[…, k, n]`, separately for each
  /// index of up to two leading axes.
  ///
  /// The specification lacks a product of two computed matrices before version 4: both are
  /// broadcast to `k × m × n`, multiplied and summed.
  mutating func matrixProduct(
    _ a: KerasTensor, _ b: KerasTensor, _ name: String, _ call: LayerCall
  ) throws -> KerasTensor {
    let rank = a.rank
    guard (3...5).contains(rank), b.rank == rank, !a.isShapeAssumed, !b.isShapeAssumed else {
      throw call.unsupported("the product of \(a.shapeText) and \(b.shapeText) is not supported")
    }
    func fit(_ a: Int?, _ b: Int?) -> Bool { a == b || a == nil || b == nil }
    let outer = 1..<rank - 2
    try call.require(
      fit(a.shape[rank - 1], b.shape[rank - 2])
        && outer.allSatisfy({
          fit(a.shape[$0], b.shape[$0]) || a.shape[$0] == 1 || b.shape[$0] == 1
        }), "its inputs \(a.shapeText) and \(b.shapeText) do not match", code: .mismatch)
    var result = a
    result.mask = nil
    result.shape[rank - 1] = b.shape[rank - 1]
    for axis in outer where a.shape[axis] == 1 { result.shape[axis] = b.shape[axis] }
    let sizes = (result.shape.dropFirst() + [a.shape[rank - 1]]).compactMap { $0 }
    let isAlike = outer.allSatisfy { a.shape[$0] == b.shape[$0] }
    if maximumVersion < 4, rank < 5, isAlike, sizes.count == rank {
      _ = try checkedProduct(sizes, limit: Limits.tensorElements)
      return elementwiseProduct(a, b, result, name)
    }
    let before = Array([BlobAxis.sequence, .channel].prefix(outer.count))
    result.layout = TensorLayout(axes: before + [.height, .width])
    let left = relaid(a, to: result.layout, for: name + "_a")
    let right = relaid(b, to: result.layout, for: name + "_b")
    result.blob = add(name, BatchedMatMul(), [left.blob, right.blob])
    return result
  }

  private mutating func elementwiseProduct(
    _ a: KerasTensor, _ b: KerasTensor, _ shape: KerasTensor, _ name: String
  ) -> KerasTensor {
    let before: [BlobAxis] = a.rank == 4 ? [.sequence] : []
    // k is along the channels, m along the height, n along the width.
    let left = relaid(a, to: TensorLayout(axes: before + [.height, .channel]), for: name + "_a")
    let right = relaid(b, to: TensorLayout(axes: before + [.channel, .width]), for: name + "_b")
    func repeated(_ blob: String, _ factors: [Int?], _ name: String) -> String {
      let factors = factors.compactMap { $0 }
      return factors == [1, 1] ? blob : add(name, Upsample(factors), [blob])
    }
    let rank = shape.rank
    let product = product(
      repeated(left.blob, [1, shape.shape[rank - 1]], name + "__columns__"),
      repeated(right.blob, [shape.shape[rank - 2], 1], name + "__rows__"), name + "__products__")
    var result = shape
    result.blob = reduced(.sum, .c, product, name)
    result.layout = TensorLayout(axes: before + [.height, .width])
    return result
  }

  /// Swaps the last two axes without moving elements.
  func transposed(_ tensor: KerasTensor) -> KerasTensor {
    tensor.exchanging(tensor.rank - 1, tensor.rank - 2)
  }

  /// Softmax along an axis.
  mutating func softmax(_ tensor: KerasTensor, axis: Int, _ name: String) -> KerasTensor {
    add(name, Softmax(), to: tensor, along: axis)
  }
}
