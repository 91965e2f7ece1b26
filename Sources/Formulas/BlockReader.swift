/// Reads the elements of a strided array, broadcast to a shape, in row-major order of the shape.
struct BlockReader {
  let array: Int
  private let offset: Int
  private let shape: [Int]
  private let strides: [Int]

  init(array: Int, offset: Int, shape: [Int], strides: [Int]) {
    self.array = array
    self.offset = offset
    // Merges contiguous axes into one.
    var sizes: [Int] = []
    var steps: [Int] = []
    for (size, step) in zip(shape, strides) where size != 1 {
      if let last = steps.last, last == step * size {
        sizes[sizes.count - 1] *= size
        steps[steps.count - 1] = step
      } else {
        sizes.append(size)
        steps.append(step)
      }
    }
    self.shape = sizes
    self.strides = steps
  }

  func copy(
    _ source: UnsafePointer<Float>, _ begin: Int, _ count: Int,
    to target: UnsafeMutablePointer<Float>
  ) {
    guard let last = shape.indices.last else {
      target.update(repeating: source[offset], count: count)
      return
    }
    var done = 0
    while done < count {
      var rest = begin + done
      let column = rest % shape[last]
      rest /= shape[last]
      var position = offset + column * strides[last]
      for axis in shape.indices.dropLast().reversed() {
        position += rest % shape[axis] * strides[axis]
        rest /= shape[axis]
      }
      let length = min(shape[last] - column, count - done)
      let (from, to) = (source + position, target + done)
      switch strides[last] {
      case 0: to.update(repeating: from[0], count: length)
      case 1: to.update(from: from, count: length)
      case let step: for index in 0..<length { to[index] = from[index * step] }
      }
      done += length
    }
  }
}

extension Expression.Reduction {
  /// Accumulates sums in double precision.
  func run(
    _ array: UnsafePointer<Float>, _ view: VectorProgram.View, _ outer: [Int], _ inner: [Int],
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
