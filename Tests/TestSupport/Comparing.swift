import TensorCore

/// The `ModelError` that `body` throws; nil if it succeeds or throws another error.
package func modelError<Result>(_ body: () throws -> Result) -> ModelError? {
  do { _ = try body() } catch { return error as? ModelError }
  return nil
}

package func errorCode<Result>(_ body: () throws -> Result) -> ModelError.Code? {
  modelError(body)?.code
}

/// The largest |a − b| / max |b|; infinite if the counts differ or an element is NaN.
package func relativeError<Number: BinaryFloatingPoint>(_ a: [Number], _ b: [Number]) -> Number {
  guard a.count == b.count else { return .infinity }
  let largest = b.reduce(0) { max($0, abs($1)) }
  let worst = zip(a, b).reduce(Number.zero) {
    let difference = abs($1.0 - $1.1)
    return difference.isNaN ? .infinity : max($0, difference)
  }
  return worst / max(largest, .leastNormalMagnitude)
}

/// The same error for tensors, whose shapes must also be equal.
package func relativeError(_ a: Tensor?, _ b: Tensor?) -> Float {
  guard let a, let b, a.shape == b.shape else { return .infinity }
  return relativeError(a.elements, b.elements)
}

/// Codes of that many bits as one long binary number with the first code in its highest bits.
package func packed(_ codes: [Int], bits: Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: (codes.count * bits + 7) / 8)
  for (index, code) in codes.enumerated() {
    for digit in 0..<bits where code >> (bits - 1 - digit) & 1 == 1 {
      let place = index * bits + digit
      bytes[place / 8] |= 0x80 >> (place % 8)
    }
  }
  return bytes
}

/// The distance of `value` from `exact` in ulps of the float nearest to `exact`.
package func ulps(_ value: Float, _ exact: Double) -> Double {
  let nearest = Float(exact)
  if value.isNaN || nearest.isNaN { return value.isNaN && nearest.isNaN ? 0 : .infinity }
  if value == nearest { return 0 }
  if value.isInfinite || nearest.isInfinite {
    return value.magnitude == .greatestFiniteMagnitude
      || nearest.magnitude == .greatestFiniteMagnitude
      ? 1 : .infinity
  }
  return abs(Double(value) - exact) / Double(nearest.ulp)
}
