import TensorCore

/// Bicubic enlargement by a factor, as OpenCV's `INTER_CUBIC`; OpenPose's `ImResize`.
final class ImResize: BuiltInCustomLayer {
  static let className = "ImResize"
  static let notes = CustomLayerNotes(
    "bicubic (a = −3/4), y[i] around x at (i + 1/2) / factor − 1/2, with the border repeated",
    parameters: ["`factor`", "`target_spatial_width`, `target_spatial_height`, instead of it"])

  private let factor: Float
  private let width: Int
  private let height: Int

  init(parameters: [String: CustomLayerParameter]) throws {
    let values = CustomLayerParameters(parameters)
    factor = try values.float("factor") ?? 1
    width = try values.int("target_spatial_width", in: 0...Limits.dimension) ?? 0
    height = try values.int("target_spatial_height", in: 0...Limits.dimension) ?? 0
    try require(
      factor > 0 || width > 0 && height > 0, "\(factor) is not positive", field: "parameters.factor"
    )
  }

  func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try PlaneShape(planes: onlyInput(inputShapes))
    func length(_ input: Int, _ stated: Int) throws -> Int {
      let length = stated > 0 ? Double(stated) : (Double(input) * Double(factor)).rounded(.down)
      try require(
        length >= 1 && length <= Double(Limits.dimension), "\(input) positions become \(length)",
        field: "parameters.factor")
      return Int(length)
    }
    return [
      shape.with(
        channels: shape.channels, height: try length(shape.height, height),
        width: try length(shape.width, width))
    ]
  }

  func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let (source, target) = (inputs[0].first, outputs[0].first)
    let (from, to) = (PlaneShape(inputs[0].shape), PlaneShape(outputs[0].shape))
    let rows = Self.taps(of: from.height, in: to.height)
    let columns = Self.taps(of: from.width, in: to.width)
    withUnsafeTemporaryAllocation(of: Float.self, capacity: from.height * to.width) { buffer in
      guard let wide = buffer.baseAddress else { return }
      for plane in 0..<from.images * from.channels {
        let image = source + plane * from.area
        for y in 0..<from.height {
          for (x, tap) in columns.enumerated() {
            let row = image + y * from.width
            wide[y * to.width + x] =
              row[tap.0.place] * tap.0.weight + row[tap.1.place] * tap.1.weight
              + row[tap.2.place] * tap.2.weight + row[tap.3.place] * tap.3.weight
          }
        }
        for (y, tap) in rows.enumerated() {
          let result = target + plane * to.area + y * to.width
          for x in 0..<to.width {
            result[x] =
              wide[tap.0.place * to.width + x] * tap.0.weight
              + wide[tap.1.place * to.width + x] * tap.1.weight
              + wide[tap.2.place * to.width + x] * tap.2.weight
              + wide[tap.3.place * to.width + x] * tap.3.weight
          }
        }
      }
    }
  }

  private typealias Tap = (place: Int, weight: Float)

  /// The four places round each one, with the weights of Keys' cubic.
  private static func taps(of length: Int, in count: Int) -> [(Tap, Tap, Tap, Tap)] {
    let a = -0.75
    return (0..<count).map { index in
      let place = (Double(index) + 0.5) * Double(length) / Double(count) - 0.5
      let floor = place.rounded(.down)
      let t = place - floor
      func near(_ d: Double) -> Double { ((a + 2) * d - (a + 3)) * d * d + 1 }
      func far(_ d: Double) -> Double { ((a * d - 5 * a) * d + 8 * a) * d - 4 * a }
      func tap(_ step: Int, _ weight: Double) -> Tap {
        (min(max(Int(floor) + step, 0), length - 1), Float(weight))
      }
      return (tap(-1, far(1 + t)), tap(0, near(t)), tap(1, near(1 - t)), tap(2, far(2 - t)))
    }
  }
}
