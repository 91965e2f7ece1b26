extension Expression.Reduction {
  /// Accumulates sums in double precision.
  func run(
    _ array: UnsafePointer<Float>, _ view: ArrayView, _ outer: [Int], _ inner: [Int],
    _ target: UnsafeMutablePointer<Float>
  ) {
    let (source, shape, strides) = (array + view.offset, view.shape, view.strides)
    let outerCount = outer.reduce(1) { $0 * shape[$1] }
    let length = inner.last.map { shape[$0] } ?? 1
    let step = inner.last.map { strides[$0] } ?? 0
    let rows = inner.dropLast()
    let rowCount = rows.reduce(1) { $0 * shape[$1] }
    func position(_ index: Int, _ axes: some BidirectionalCollection<Int>) -> Int {
      var (rest, position) = (index, 0)
      for axis in axes.reversed() {
        position += rest % shape[axis] * strides[axis]
        rest /= shape[axis]
      }
      return position
    }
    for index in 0..<outerCount {
      let base = source + position(index, outer)
      var sum = self == .product ? 1.0 : 0
      var extreme = self == .max ? -Float.infinity : Float.infinity
      for row in 0..<rowCount {
        let start = base + position(row, rows)
        for column in 0..<length {
          let value = start[column * step]
          switch self {
          case .sum, .mean: sum += Double(value)
          case .product: sum *= Double(value)
          case .max: if !(value <= extreme) { extreme = extreme.isNaN ? extreme : value }
          case .min: if !(value >= extreme) { extreme = extreme.isNaN ? extreme : value }
          }
        }
      }
      target[index] =
        switch self {
        case .sum, .product: Float(sum)
        case .mean: Float(sum / Double(rowCount * length))
        case .max, .min: extreme
        }
    }
  }
}
