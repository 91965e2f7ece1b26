import CoreMLModel
import TensorCore

/// Codes q from 0 to 2ᵇⁱᵗˢ − 1 with w ≈ scale · q + bias, for the values of one channel.
struct LinearCodes {
  private(set) var scale: Float
  private(set) var bias: Float

  /// Equal values become the scale, with the code 1 and the bias 0, because programs, which store
  /// bias / scale, cannot have the scale 0.
  ///
  /// - Parameter isSymmetric: whether bias is −2ᵇⁱᵗˢ⁻¹ · scale, so that zero has a code; with one
  ///   bit −scale / 2, so that both codes have the same magnitude.
  /// - Parameter type: the type in which a program stores the scale and −bias / scale; nil in a network.
  /// - Parameter shrinkages: initial ranges as fractions of the values' range; nil for a set that
  ///   suffices for the values of one channel.
  init(
    _ values: UnsafeBufferPointer<Float>, bits: Int, isSymmetric: Bool, choice: ScaleChoice,
    type: MILDataType? = nil, shrinkages: [Double]? = nil
  ) {
    let levels = Double((1 << bits) - 1)
    let middle = bits == 1 ? 0.5 : Double(1 << (bits - 1))
    var (least, largest) = (Float.infinity, -Float.infinity)
    for value in values {
      least = min(least, value)
      largest = max(largest, value)
    }
    let (low, high) = (Double(least), Double(largest))
    if low == high {
      (scale, bias) = (least == 0 ? 1 : least, 0)
      return
    }
    defer {
      if type == .float16 {
        roundToHalf(middle: (least + largest) / 2)
      } else if type != nil, !isSymmetric {
        roundForExactProduct(levels: Float(levels))
      }
    }
    let start: (scale: Double, bias: Double)
    if isSymmetric {
      let scale = max(abs(low), abs(high)) / (bits == 1 ? 0.5 : middle - 1)
      start = (scale, -middle * scale)
    } else {
      start = ((high - low) / levels, low)
    }
    (scale, bias) = (Float(start.scale), Float(start.bias))
    guard choice == .leastSquares else { return }
    let fixedMiddle = isSymmetric ? middle : nil
    var best = sums(values, bits: bits, middle: fixedMiddle).error
    // With few levels, a range narrower than that of the values is better; the fewer, the narrower.
    let few: [Double] = bits >= 7 ? [1] : bits >= 5 ? [1, 0.85] : [1, 0.8, 0.6, 0.45]
    for shrinkage in shrinkages ?? few where best > 0 {
      let first = start.scale * shrinkage
      let center = start.bias + start.scale * levels / 2
      var next = (scale: first, bias: isSymmetric ? -middle * first : center - first * levels / 2)
      for _ in 0..<(bits >= 7 && shrinkages == nil ? 3 : 12) {
        let candidate = LinearCodes(scale: Float(next.scale), bias: Float(next.bias))
        let sums = candidate.sums(values, bits: bits, middle: fixedMiddle)
        if sums.error < best {
          best = sums.error
          self = candidate
        }
        guard let better = sums.leastSquares(middle: fixedMiddle), better != next else { break }
        next = better
      }
    }
  }

  /// If half precision is too coarse for the range, all values become equal.
  private mutating func roundToHalf(middle: Float) {
    var half = Half.rounded(scale)
    // Rounds up among subnormals, which are far apart.
    if half < scale, scale < 0x1p-14 { half += 0x1p-24 }
    let offset = Half.rounded(-bias / half)
    (scale, bias) = offset.isFinite ? (half, -offset * half) : (middle, 0)
  }

  /// Keeps 12 bits of the scale and of the offset, −bias / scale. Their product is exact in single
  /// precision, so scale · (q − offset) equals scale · q + bias, and a program can run with its codes.
  /// The ends of the range move by less than its 4000th part.
  private mutating func roundForExactProduct(levels: Float) {
    let step = scale.ulp * 0x1p12
    let rounded = (scale / step).rounded() * step
    let first = bias + (scale - rounded) * levels / 2
    let grain = (levels + 1) * 0x1p-12
    let offset = (-first / rounded / grain).rounded() * grain
    if abs(offset) <= levels + 1 { (scale, bias) = (rounded, -offset * rounded) }
  }

  private init(scale: Float, bias: Float) {
    self.scale = scale
    self.bias = bias
  }

  /// Writes the codes of the nearest values.
  func write(
    _ values: UnsafeBufferPointer<Float>, bits: Int, to codes: UnsafeMutablePointer<UInt8>
  ) {
    let inverse = scale == 0 ? 0 : 1 / Double(scale)
    let offset = Double(bias)
    let last = Double((1 << bits) - 1)
    for index in values.indices {
      let code = max(0, min(last, (Double(values[index]) - offset) * inverse))
      codes[index] = UInt8(truncatingIfNeeded: Int32(Self.rounded(code)))
    }
  }

  /// Rounds a number from 0 to 255 to the nearest integer, ties to even.
  private static func rounded(_ value: Double) -> Double { (value + 0x1.8p52) - 0x1.8p52 }

  private struct Sums {
    var count = 0.0
    /// Sum of the codes, or of their distances from the middle.
    var codes = 0.0
    var codesSquared = 0.0
    var values = 0.0
    var products = 0.0
    var error = 0.0

    /// The scale and bias with the smallest squared error for the given codes.
    func leastSquares(middle: Double?) -> (scale: Double, bias: Double)? {
      if let middle {
        guard codesSquared > 0 else { return nil }
        let scale = products / codesSquared
        return (scale, -middle * scale)
      }
      let spread = count * codesSquared - codes * codes
      guard spread > 0 else { return nil }
      let scale = (count * products - codes * values) / spread
      return (scale, (values - scale * codes) / count)
    }
  }

  /// Sums over the values and their codes, accumulated in blocks in single-precision vectors.
  private func sums(_ values: UnsafeBufferPointer<Float>, bits: Int, middle: Double?) -> Sums {
    typealias Lanes = SIMD8<Float>
    let inverses = Lanes(repeating: scale == 0 ? 0 : 1 / scale)
    let scales = Lanes(repeating: scale)
    let biases = Lanes(repeating: bias)
    let last = Lanes(repeating: Float((1 << bits) - 1))
    let magic = Lanes(repeating: 0x1.8p23)
    let shifts = Lanes(repeating: Float(middle ?? 0))
    var sums = Sums()
    sums.count = Double(values.count)
    let lanes = Lanes.scalarCount
    for begin in stride(from: 0, to: values.count, by: 64 * lanes) {
      let end = min(values.count, begin + 64 * lanes)
      var codes = Lanes.zero
      var squares = Lanes.zero
      var plain = Lanes.zero
      var products = Lanes.zero
      var error = Lanes.zero
      for index in stride(from: begin, to: end, by: lanes) {
        let count = min(lanes, end - index)
        var value = Lanes.zero
        var used = Lanes(repeating: 1)
        if count == lanes, let base = values.baseAddress {
          value = UnsafeRawPointer(base + index).loadUnaligned(as: Lanes.self)
        } else {
          for lane in 0..<lanes {
            value[lane] = lane < count ? values[index + lane] : 0
            used[lane] = lane < count ? 1 : 0
          }
        }
        let exact: Lanes = (value - biases) * inverses
        let bounded: Lanes = exact.clamped(lowerBound: .zero, upperBound: last)
        let code: Lanes = (bounded + magic) - magic
        let counted: Lanes = (code - shifts) * used
        let decoded: Lanes = code * scales + biases
        let difference: Lanes = (value - decoded) * used
        codes += counted
        squares += counted * counted
        plain += value
        products += counted * value
        error += difference * difference
      }
      sums.codes += Double(codes.sum())
      sums.codesSquared += Double(squares.sum())
      sums.values += Double(plain.sum())
      sums.products += Double(products.sum())
      sums.error += Double(error.sum())
    }
    return sums
  }
}
