import LibC

/// TensorFlow's image resizing: each row and column of the result is a weighted sum of those of the
/// image, with weights that depend only on the sizes (tensorflow/core/kernels/image).
enum KerasInterpolation: String, Sendable {
  /// Nearest neighbor as in TensorFlow 1: the element at ⌊index · scale⌋. No configuration refers
  /// to it by name.
  case nearestBelow = "⌊nearest⌋"
  /// Bilinear as in TensorFlow 1, at index · scale, without half-pixel centers.
  case bilinearBelow = "⌊bilinear⌋"
  case nearestOfCorners = "nearest, corners aligned"
  case bilinearOfCorners = "bilinear, corners aligned"
  case nearest, bilinear, bicubic, area, lanczos3, lanczos5, gaussian, mitchellcubic

  /// The weights, `[output][input]`; each row is computed when it is read.
  ///
  /// - Parameter isSmoothed: whether each element of a smaller image depends on all elements that
  ///   it covers, as with `antialias`.
  func matrix(
    from input: Int, to output: Int, isSmoothed: Bool = false
  ) -> some Sequence<[Double]> {
    (0..<output).lazy.map { row in
      var factors = [Double](repeating: 0, count: input)
      let ratio = Float(input) / Float(output)
      let scale = Double(ratio)
      let center = (Double(row) + 0.5) * scale
      let spread = isSmoothed ? max(scale, 1) : 1
      switch self {
      // TensorFlow rounds a place in single precision before it takes the element there.
      case .nearest: factors[min(Int((Float(row) + 0.5) * ratio), input - 1)] = 1
      case .nearestBelow: factors[min(Int(Float(row) * ratio), input - 1)] = 1
      case .bilinearBelow, .bilinearOfCorners, .nearestOfCorners:
        let aligned = output == 1 ? ratio : Float(input - 1) / Float(output - 1)
        if self == .nearestOfCorners {
          factors[min(Int((Float(row) * aligned).rounded()), input - 1)] = 1
          break
        }
        let place = Double(row) * (self == .bilinearBelow ? scale : Double(aligned))
        let below = min(Int(place), input - 1)
        factors[below] += 1 - (place - Double(below))
        factors[min(below + 1, input - 1)] += place - Double(below)
      case .bilinear where !isSmoothed:
        let place = center - 0.5
        let below = place.rounded(.down)
        let lower = max(Int(below), 0)
        let upper = min(Int(place.rounded(.up)), input - 1)
        factors[lower] += 1 - (place - below)
        factors[max(upper, 0)] += place - below
      case .area:
        let (start, end) = (Double(row) * scale, Double(row + 1) * scale)
        for index in 0..<input {
          let overlap = min(end, Double(index + 1)) - max(start, Double(index))
          if overlap > 0 { factors[index] = overlap / (end - start) }
        }
      case .bicubic where !isSmoothed: Self.addCubic(at: center - 0.5, to: &factors)
      case .bilinear, .bicubic, .lanczos3, .lanczos5, .gaussian, .mitchellcubic:
        let reach = radius * spread
        let first = max(Int((center - reach - 0.5).rounded(.up)), 0)
        let last = min(Int((center + reach - 0.5).rounded(.down)), input - 1)
        guard first <= last else { break }
        for index in first...last {
          factors[index] = weight(abs(Double(index) + 0.5 - center) / spread)
        }
        let total = factors.reduce(0, +)
        if total != 0 { for index in first...last { factors[index] /= total } }
      }
      return factors
    }
  }

  /// Adds Keys's kernel with a = −½, from a table of 1024 steps as in TensorFlow.
  private static func addCubic(at place: Double, to factors: inout [Double]) {
    let below = place.rounded(.down)
    let steps = 1024.0
    let offset = ((place - below) * steps).rounded(.toNearestOrEven) / steps
    func near(_ x: Double) -> Double { (1.5 * x - 2.5) * x * x + 1 }
    func far(_ x: Double) -> Double { ((-0.5 * (x + 1) + 2.5) * (x + 1) - 4) * (x + 1) + 2 }
    let weights = [far(offset), near(offset), near(1 - offset), far(1 - offset)]
    var total = 0.0
    for (index, weight) in weights.enumerated() {
      let source = Int(below) - 1 + index
      guard factors.indices.contains(source) else { continue }
      factors[source] += weight
      total += weight
    }
    if total != 0 { for index in factors.indices { factors[index] /= total } }
  }

  private var radius: Double {
    switch self {
    case .bilinear: 1
    case .lanczos3: 3
    case .lanczos5: 5
    case .gaussian: 1.5
    default: 2
    }
  }

  private func weight(_ x: Double) -> Double {
    if x >= radius { return 0 }
    switch self {
    case .bilinear: return 1 - x
    case .bicubic:
      return x > 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1
    case .gaussian:
      let sigma = radius / 3
      return exp(-x * x / (2 * sigma * sigma))
    case .mitchellcubic:
      return x > 1
        ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9 : (7.0 / 6 * x - 2) * x * x + 8.0 / 9
    default:
      if x <= 1e-3 { return 1 }
      return radius * sin(.pi * x) * sin(.pi * x / radius) / (.pi * .pi * x * x)
    }
  }
}
