import TensorCore

extension Tensor {
  /// Item `index` along axis `axis`, as an array with length 1 there.
  func batchItem(_ index: Int, axis: Int) -> Tensor {
    let inner = shape.suffix(from: axis + 1).reduce(1, *)
    let outer = shape.prefix(axis).reduce(1, *)
    var itemShape = shape
    itemShape[axis] = 1
    var result = Tensor(shape: itemShape)
    withUnsafeElements { source in
      result.withUnsafeMutableElements { target in
        for step in 0..<outer {
          let from = (step * shape[axis] + index) * inner
          for element in 0..<inner { target[step * inner + element] = source[from + element] }
        }
      }
    }
    return result
  }

  /// Concatenates arrays of equal shape along `axis`.
  static func batch(_ items: [Tensor], axis: Int) -> Tensor {
    guard let first = items.first, items.count > 1, first.shape.count > axis else {
      return items.first ?? Tensor(shape: [0])
    }
    let inner = first.shape.suffix(from: axis).reduce(1, *)
    let outer = first.shape.prefix(axis).reduce(1, *)
    var shape = first.shape
    shape[axis] *= items.count
    var result = Tensor(shape: shape)
    result.withUnsafeMutableElements { target in
      for (index, tensor) in items.enumerated() {
        tensor.withUnsafeElements { source in
          for step in 0..<outer {
            let to = (step * items.count + index) * inner
            for element in 0..<inner { target[to + element] = source[step * inner + element] }
          }
        }
      }
    }
    return result
  }
}
