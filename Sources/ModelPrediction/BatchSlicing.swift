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

  /// The elementwise mean of the arrays that have the same name and the same shape in every item.
  static func mean(_ items: [[String: Tensor]]) -> [String: Tensor] {
    guard let first = items.first else { return [:] }
    var means: [String: Tensor] = [:]
    for (name, tensor) in first {
      let parts = items.compactMap { $0[name] }.filter { $0.shape == tensor.shape }
      guard parts.count == items.count else { continue }
      var sums = [Double](repeating: 0, count: tensor.count)
      for part in parts {
        part.withUnsafeElements { source in
          for index in source.indices { sums[index] += Double(source[index]) }
        }
      }
      let count = Double(parts.count)
      means[name] = Tensor(shape: tensor.shape, sums.map { Float($0 / count) })
    }
    return means
  }
}
