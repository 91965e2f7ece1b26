import TensorCore

/// The locations of the elements of many matrices in an array: element (n, r, c) is at
/// `offset + Σ n[axis] · batch[axis] + r · row + c · column`.
struct MatrixWalk: Sendable, Equatable {
  var offset = 0
  var batch: [Int]
  var row: Int
  var column: Int

  /// Contiguous row-major matrices.
  init(rowMajor batch: [Int], rows: Int, columns: Int) {
    self.init(batch, broadcastTo: batch, rows: rows, columns: columns)
  }

  /// Row-major matrices, repeated along axes of `batch` in which they have size 1.
  init(_ sizes: [Int], broadcastTo batch: [Int], rows: Int, columns: Int) {
    self.batch = ArrayStrides.broadcast(sizes, to: batch).map { $0 * rows * columns }
    row = columns
    column = 1
  }

  /// An array, repeated along axes in which it has size 1.
  init(broadcasting shape: [Int], to target: [Int]) {
    let strides = ArrayStrides.broadcast(shape, to: target)
    batch = Array(strides.dropLast(2))
    row = strides[strides.count - 2]
    column = strides[strides.count - 1]
  }

  var transposed: MatrixWalk {
    var walk = self
    swap(&walk.row, &walk.column)
    return walk
  }

  /// Offsets of the matrices, in row-major order of `sizes`.
  func starts(_ sizes: [Int]) -> [Int] {
    (0..<sizes.reduce(1, *)).map { index in
      var rest = index
      var start = offset
      for axis in sizes.indices.reversed() {
        start += rest % sizes[axis] * batch[axis]
        rest /= sizes[axis]
      }
      return start
    }
  }

  /// The walk through the source of a copy that visits the same elements, if there is one.
  ///
  /// - Parameter sizes: the sizes of the batch, and the numbers of rows and columns.
  func through(_ copy: StridedCopyOperation, _ sizes: [Int]) -> MatrixWalk? {
    let steps = Tensor.strides(copy.sizes)
    // The position in the copy, axis by axis; no axis may overflow into the one before.
    var last = [Int](repeating: 0, count: steps.count)
    var walk = self
    walk.offset = copy.offset
    var rest = offset
    for axis in steps.indices {
      last[axis] = rest / steps[axis]
      rest %= steps[axis]
      walk.offset += last[axis] * copy.strides[axis]
    }
    func mapped(_ stride: Int, _ size: Int) -> Int? {
      if stride == 0 || size == 1 { return 0 }
      guard stride > 0, let axis = steps.firstIndex(where: { $0 <= stride && stride % $0 == 0 })
      else { return nil }
      last[axis] += stride / steps[axis] * (size - 1)
      return stride / steps[axis] * copy.strides[axis]
    }
    for axis in batch.indices {
      guard let stride = mapped(batch[axis], sizes[axis]) else { return nil }
      walk.batch[axis] = stride
    }
    guard let row = mapped(row, sizes[batch.count]),
      let column = mapped(column, sizes[batch.count + 1])
    else { return nil }
    (walk.row, walk.column) = (row, column)
    return zip(last, copy.sizes).allSatisfy({ $0 < $1 }) ? walk : nil
  }
}

extension StridedCopyOperation {
  /// The copy from the result to the source, if every element is copied exactly once.
  var inverse: StridedCopyOperation? {
    guard offset == 0 else { return nil }
    let order = sizes.indices.filter { sizes[$0] > 1 }.sorted { strides[$0] > strides[$1] }
    guard order.map({ strides[$0] }) == Tensor.strides(order.map { sizes[$0] }) else { return nil }
    let steps = Tensor.strides(sizes)
    return StridedCopyOperation(
      kind: kind, sizes: order.map { sizes[$0] }, strides: order.map { steps[$0] })
  }
}
