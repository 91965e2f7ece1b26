import CoreMLModel
import TensorCore

extension Float {
  /// The nearest number with four significant bits, the last of which is at least 2⁻⁹.
  var roundedToFloat8: Float { rounded(digits: 3, least: -6) }

  /// The nearest number with eight significant bits.
  var roundedToBFloat16: Float { rounded(digits: 7, least: -126) }

  /// The nearest number with `digits` bits after the first, and an exponent of at least `least`.
  private func rounded(digits: Int, least: Int) -> Float {
    guard isFinite else { return self }
    let step = Float(sign: .plus, exponent: max(Int(exponent), least) - digits, significand: 1)
    return (self / step).rounded(.toNearestOrEven) * step
  }
}

extension Weights {
  /// Stores the weights as codes if one scale and one zero point per row reproduce them.
  mutating func store(bits: Int, scales: [Float], zeros: [Float]?) throws {
    let values = try floatValue.array()
    let (rows, limit) = (scales.count, Float(1 << bits))
    guard rows > 0, values.count > rows, values.count % rows == 0,
      zeros.map({ $0.count == rows }) ?? true
    else { return }
    let offsets = scales.indices.map { -(limit / 2 + (zeros?[$0] ?? 0)) * scales[$0] }
    var codes: [UInt8] = []
    for (index, value) in values.enumerated() {
      let row = index / (values.count / rows)
      let code = ((value - offsets[row]) / scales[row]).rounded()
      guard code >= 0, code < limit,
        abs(code * scales[row] + offsets[row] - value) <= limit * abs(scales[row]) * 1e-6
      else { return }
      codes.append(UInt8(code))
    }
    if bits == 4 {
      if codes.count % 2 == 1 { codes.append(0) }
      codes = stride(from: 0, to: codes.count, by: 2).map { codes[$0] << 4 | codes[$0 + 1] }
    }
    floatValue = FloatValues(bytes: Bytes())
    rawValue = Bytes(codes)
    quantization = Quantization(bits: bits, .linear(scale: scales, bias: offsets))
  }
}
