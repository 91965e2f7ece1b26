import TensorCore

/// One-dimensional k-means: the table of at most k values with the smallest sum of squared errors.
///
/// The values are sorted. If few of them are distinct, dynamic programming over the distinct values
/// finds the optimal division into runs. Otherwise dynamic programming over runs of neighboring
/// values gives a start, which Lloyd's algorithm improves on the values themselves until nothing
/// changes. The result depends only on the values.
struct KMeans {
  /// The centers in ascending order: as many as requested, or one per distinct value if fewer.
  let centers: [Float]

  /// Maximum number of runs that dynamic programming divides.
  private static let mostRuns = 1 << 16
  /// Maximum number of runs × centers.
  private static let mostSteps = 1 << 22

  /// Precondition: the values are finite, and there is at least one.
  init(_ values: UnsafeBufferPointer<Float>, count k: Int) {
    let sorted = SortedValues(values)
    let limit = max(4 * k, min(Self.mostRuns, Self.mostSteps / k))
    let runs = sorted.runs(atMost: limit)
    if runs.count - 1 <= k {
      centers = zip(runs, runs.dropFirst()).map { Float(sorted.mean($0..<$1)) }
      return
    }
    let borders = RunDivision(runs, sorted).borders(k).map { runs[$0] }
    centers = sorted.improved(borders)
  }
}

/// Values in ascending order, with prefix sums.
private struct SortedValues {
  private let values: UnsafeBufferPointer<Float>
  private let owner: AlignedBuffer
  /// Sums of the values and of their squares before every `step`-th value, relative to the first
  /// value to keep them small.
  private var sums: [Double] = [0]
  private let origin: Double
  private static let step = 64

  init(_ unsorted: UnsafeBufferPointer<Float>) {
    owner = radixSorted(unsorted)
    values = UnsafeBufferPointer(
      start: owner.pointer.assumingMemoryBound(to: Float.self), count: unsorted.count)
    let middle = Double(values[values.count / 2])
    origin = middle
    sums.reserveCapacity(values.count / Self.step + 2)
    var sum = 0.0
    for begin in stride(from: 0, to: values.count, by: Self.step) {
      for index in begin..<min(values.count, begin + Self.step) {
        sum += Double(values[index]) - middle
      }
      sums.append(sum)
    }
  }

  var count: Int { values.count }

  /// Σ (value − origin) before `index`.
  func sum(before index: Int) -> Double {
    let part = index / Self.step
    var sum = sums[part]
    for position in part * Self.step..<index { sum += Double(values[position]) - origin }
    return sum
  }

  func mean(_ range: Range<Int>) -> Double {
    (sum(before: range.upperBound) - sum(before: range.lowerBound)) / Double(range.count) + origin
  }

  /// Start indices of runs of neighboring values, followed by the number of values. Each distinct
  /// value is a run if their number is at most `limit`; otherwise runs are limited in range and
  /// in length.
  func runs(atMost limit: Int) -> [Int] {
    var starts = [0]
    for index in 1..<max(1, count) where values[index] != values[index - 1] {
      starts.append(index)
      if starts.count > limit { break }
    }
    if starts.count <= limit { return starts + [count] }
    let half = limit / 2
    let first = Double(values[0])
    let scale = Double(half - 1) / (Double(values[count - 1]) - first)
    starts = [0]
    var (cell, part) = (0, 0)
    for index in 1..<count where values[index] != values[index - 1] {
      let newCell = Int((Double(values[index]) - first) * scale)
      let newPart = index * half / count
      if newCell != cell || newPart != part {
        starts.append(index)
        (cell, part) = (newCell, newPart)
      }
    }
    return starts + [count]
  }

  /// Lloyd's algorithm: borders midway between means, means between borders, until no border moves.
  func improved(_ start: [Int]) -> [Float] {
    var borders = start
    var centers = means(borders)
    for _ in 0..<1000 {
      var next = [0]
      for position in 1..<centers.count {
        next.append(border((centers[position - 1] + centers[position]) / 2))
      }
      next.append(count)
      if next == borders { break }
      // An empty run would lose a center.
      if next.indices.dropFirst().contains(where: { next[$0 - 1] >= next[$0] }) { break }
      borders = next
      centers = means(borders)
    }
    return centers.map { Float($0) }
  }

  private func means(_ borders: [Int]) -> [Double] {
    zip(borders, borders.dropFirst()).map { mean($0..<$1) }
  }

  /// The first index of a value above `threshold`.
  private func border(_ threshold: Double) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if Double(values[middle]) <= threshold { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Divides runs into k segments with the smallest squared error within the segments.
///
///     best(m, j) = min over i of best(m − 1, i) + error(i ..< j)
///
/// The best i grows with j, so the solutions for half of the j's bound those of the other half.
private struct RunDivision {
  /// Before each run: the number of values, their sum, and the sum of squares of the runs' means.
  private let counts: [Double]
  private let sums: [Double]
  private let squares: [Double]

  init(_ starts: [Int], _ values: SortedValues) {
    counts = starts.map(Double.init)
    sums = starts.map { values.sum(before: $0) }
    var squares = [0.0]
    for (from, to) in zip(starts.indices, starts.indices.dropFirst()) {
      let sum = sums[to] - sums[from]
      squares.append(squares[from] + sum * sum / (counts[to] - counts[from]))
    }
    self.squares = squares
  }

  /// Σ w (mean − overall mean)² over the runs of a segment.
  @inline(__always)
  private func error(_ i: Int, _ j: Int) -> Double {
    let sum = sums[j] - sums[i]
    return max(0, squares[j] - squares[i] - sum * sum / (counts[j] - counts[i]))
  }

  /// The runs at which segments start, followed by the number of runs. Precondition: there are more
  /// runs than segments.
  func borders(_ k: Int) -> [Int] {
    let n = counts.count - 1
    var best = [0.0]
    for j in 1...n { best.append(error(0, j)) }
    var choices: [[Int32]] = []
    choices.reserveCapacity(k)
    for m in 1..<max(k, 1) {
      var next = [Double](repeating: .infinity, count: n + 1)
      var choice = [Int32](repeating: 0, count: n + 1)
      best.withUnsafeBufferPointer { best in
        // Ranges of j with bounds on their best i.
        var pending = [(low: m + 1, high: n, first: m, last: n - 1)]
        while let range = pending.popLast() {
          if range.low > range.high { continue }
          let j = (range.low + range.high) / 2
          var least = Double.infinity
          var position = range.first
          for i in range.first...min(range.last, j - 1) {
            let candidate = best[i] + error(i, j)
            if candidate < least {
              least = candidate
              position = i
            }
          }
          next[j] = least
          choice[j] = Int32(position)
          pending.append((range.low, j - 1, range.first, position))
          pending.append((j + 1, range.high, position, range.last))
        }
      }
      best = next
      choices.append(choice)
    }
    var borders = [n]
    for choice in choices.reversed() { borders.append(Int(choice[borders[borders.count - 1]])) }
    borders.append(0)
    return borders.reversed()
  }
}

/// The values in ascending order, −0 before 0, by a radix sort on eleven bits at a time.
private func radixSorted(_ values: UnsafeBufferPointer<Float>) -> AlignedBuffer {
  let radix = 11
  let mask = UInt32(1 << radix) - 1
  let shifts = [UInt32(0), 11, 22]
  var buffer = AlignedBuffer(byteCount: 4 * values.count)
  var other = AlignedBuffer(byteCount: 4 * values.count)
  func words(_ buffer: AlignedBuffer) -> UnsafeMutableBufferPointer<UInt32> {
    UnsafeMutableBufferPointer(
      start: buffer.pointer.assumingMemoryBound(to: UInt32.self), count: values.count)
  }
  // The number of keys with each digit, then the index where the next of them goes.
  var counts = [[Int]](repeating: [Int](repeating: 0, count: 1 << radix), count: shifts.count)
  let keys = words(buffer)
  for (index, value) in values.enumerated() {
    // Bit patterns that sort like the values when compared as unsigned numbers.
    let bits = value.bitPattern
    let key = bits ^ (bits >> 31 == 1 ? .max : 0x8000_0000)
    keys[index] = key
    for (position, shift) in shifts.enumerated() { counts[position][Int(key >> shift & mask)] += 1 }
  }
  for (shift, counts) in zip(shifts, counts) where !counts.contains(values.count) {
    var total = 0
    var next = counts.map { count in
      defer { total += count }
      return total
    }
    let target = words(other)
    next.withUnsafeMutableBufferPointer { next in
      for key in words(buffer) {
        let digit = Int(key >> shift & mask)
        target[next[digit]] = key
        next[digit] += 1
      }
    }
    swap(&buffer, &other)
  }
  for (index, key) in words(buffer).enumerated() {
    words(buffer)[index] = key >> 31 == 1 ? key ^ 0x8000_0000 : ~key
  }
  return buffer
}
