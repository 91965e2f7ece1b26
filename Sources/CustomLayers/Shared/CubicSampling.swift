/// Bicubic resizing with a repeated border, with Keys' cubic and a = −3/4, as in OpenCV.
enum CubicSampling {
  private typealias Tap = (position: Int, weight: Float)

  /// Resizes every plane, columns first.
  static func resize(
    _ source: UnsafePointer<Float>, _ from: PlaneShape, to target: UnsafeMutablePointer<Float>,
    _ to: PlaneShape
  ) {
    let rows = taps(of: from.height, in: to.height)
    let columns = taps(of: from.width, in: to.width)
    withUnsafeTemporaryAllocation(of: Float.self, capacity: from.height * to.width) { buffer in
      guard let wide = buffer.baseAddress else { return }
      for plane in 0..<from.images * from.channels {
        let image = source + plane * from.area
        for y in 0..<from.height {
          for (x, tap) in columns.enumerated() {
            let row = image + y * from.width
            wide[y * to.width + x] =
              row[tap.0.position] * tap.0.weight + row[tap.1.position] * tap.1.weight
              + row[tap.2.position] * tap.2.weight + row[tap.3.position] * tap.3.weight
          }
        }
        for (y, tap) in rows.enumerated() {
          let result = target + plane * to.area + y * to.width
          for x in 0..<to.width {
            result[x] =
              wide[tap.0.position * to.width + x] * tap.0.weight
              + wide[tap.1.position * to.width + x] * tap.1.weight
              + wide[tap.2.position * to.width + x] * tap.2.weight
              + wide[tap.3.position * to.width + x] * tap.3.weight
          }
        }
      }
    }
  }

  /// The arguments of a Metal kernel: for each position, the source positions, then their weights.
  static func table(of length: Int, in count: Int) -> [SIMD4<Float>] {
    taps(of: length, in: count).flatMap { tap in
      [
        SIMD4(
          Float(tap.0.position), Float(tap.1.position), Float(tap.2.position), Float(tap.3.position)
        ),
        SIMD4(tap.0.weight, tap.1.weight, tap.2.weight, tap.3.weight),
      ]
    }
  }

  /// The four positions around each one, with the weights of the cubic.
  private static func taps(of length: Int, in count: Int) -> [(Tap, Tap, Tap, Tap)] {
    let a = -0.75
    return (0..<count).map { index in
      let position = (Double(index) + 0.5) * Double(length) / Double(count) - 0.5
      let floor = position.rounded(.down)
      let t = position - floor
      func near(_ d: Double) -> Double { ((a + 2) * d - (a + 3)) * d * d + 1 }
      func far(_ d: Double) -> Double { ((a * d - 5 * a) * d + 8 * a) * d - 4 * a }
      func tap(_ step: Int, _ weight: Double) -> Tap {
        (min(max(Int(floor) + step, 0), length - 1), Float(weight))
      }
      return (tap(-1, far(1 + t)), tap(0, near(t)), tap(1, near(1 - t)), tap(2, far(2 - t)))
    }
  }
}
