/// Codes for a table of values: the index of the nearest value, or of the lower one in a tie.
struct TableCodes {
  /// 2ᵇⁱᵗˢ values.
  let table: [Float]
  /// Table indices in ascending order of the values.
  private let positions: [UInt8]
  /// The midpoints between neighbors, followed by infinity.
  private let thresholds: [Float]
  private let bits: Int

  /// Precondition: `table` has 2ᵇⁱᵗˢ values, none of them NaN.
  init(_ table: [Float], bits: Int) {
    self.table = table
    self.bits = bits
    let order = table.indices.sorted { (table[$0], $0) < (table[$1], $1) }
    positions = order.map { UInt8(truncatingIfNeeded: $0) }
    thresholds =
      zip(order, order.dropFirst()).map { lower, upper in
        Self.lastNearer(table[lower], table[upper])
      } + [.infinity]
  }

  /// The largest float that is not nearer to `upper` than to `lower`.
  private static func lastNearer(_ lower: Float, _ upper: Float) -> Float {
    let middle = (Double(lower) + Double(upper)) / 2
    let rounded = Float(middle)
    return Double(rounded) > middle ? rounded.nextDown : rounded
  }

  /// A table of evenly spaced values: from the smallest to the largest of `values`, or with the
  /// smallest squared error found.
  static func evenTable(
    _ values: UnsafeBufferPointer<Float>, bits: Int, choice: ScaleChoice
  ) -> [Float] {
    if let first = values.first, values.allSatisfy({ $0 == first }) {
      return [Float](repeating: first, count: 1 << bits)
    }
    let codes = LinearCodes(
      values, bits: bits, isSymmetric: false, choice: choice,
      shrinkages: [1, 0.85, 0.7, 0.55, 0.4, 0.25, 0.15])
    return (0..<1 << bits).map { Float(Double(codes.bias) + Double($0) * Double(codes.scale)) }
  }

  /// The table with the smallest squared error; if it needs fewer values, the last one is repeated.
  static func kMeansTable(_ values: UnsafeBufferPointer<Float>, bits: Int) -> [Float] {
    let centers = KMeans(values, count: 1 << bits).centers
    let last = centers.last ?? 0
    return centers + [Float](repeating: last, count: (1 << bits) - centers.count)
  }

  func write(_ values: UnsafeBufferPointer<Float>, to codes: UnsafeMutablePointer<UInt8>) {
    let cells = 1 << 16
    if values.count < cells {
      for index in values.indices { codes[index] = positions[position(of: values[index])] }
      return
    }
    // The start of the search for all values with the same upper 16 bits: that of the lower bound.
    let starts = (0..<UInt32(cells)).map { half in
      let bounds = [half << 16, half << 16 | 0xFFFF].map { Float(bitPattern: $0) }
      return UInt8(truncatingIfNeeded: position(of: bounds[0] < bounds[1] ? bounds[0] : bounds[1]))
    }
    thresholds.withUnsafeBufferPointer { thresholds in
      positions.withUnsafeBufferPointer { positions in
        starts.withUnsafeBufferPointer { starts in
          for index in values.indices {
            let value = values[index]
            var position = Int(starts[Int(value.bitPattern >> 16)])
            // The last threshold is infinite.
            while thresholds[position] < value { position += 1 }
            codes[index] = positions[position]
          }
        }
      }
    }
  }

  /// The number of thresholds below a value, by binary search.
  private func position(of value: Float) -> Int {
    var position = 0
    var step = 1 << (bits - 1)
    while step > 0 {
      position += thresholds[position + step - 1] < value ? step : 0
      step >>= 1
    }
    return position
  }
}
