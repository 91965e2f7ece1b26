import TensorCore

extension Tensor {
  /// Item `index` of the batch of a `[Seq, Batch, C, H, W]` blob, as a batch of one.
  func batchItem(_ index: Int) -> Tensor {
    let item = shape[2] * shape[3] * shape[4]
    var result = Tensor(shape: [shape[0], 1, shape[2], shape[3], shape[4]])
    withUnsafeElements { source in
      result.withUnsafeMutableElements { target in
        for step in 0..<shape[0] {
          let from = (step * shape[1] + index) * item
          for element in 0..<item { target[step * item + element] = source[from + element] }
        }
      }
    }
    return result
  }

  /// Blobs `[Seq, 1, C, H, W]` of equal shape, put together as one batch.
  static func batch(_ items: [Tensor]) -> Tensor {
    guard let first = items.first, items.count > 1, first.shape.count == 5 else {
      return items.first ?? Tensor(shape: [0])
    }
    var shape = first.shape
    shape[1] = items.count
    let item = shape[2] * shape[3] * shape[4]
    var result = Tensor(shape: shape)
    result.withUnsafeMutableElements { target in
      for (index, tensor) in items.enumerated() {
        tensor.withUnsafeElements { source in
          for step in 0..<shape[0] {
            let to = (step * items.count + index) * item
            for element in 0..<item { target[to + element] = source[step * item + element] }
          }
        }
      }
    }
    return result
  }
}
