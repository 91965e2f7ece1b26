import Kernels

/// Every instruction set that this machine can run.
let availableSets = InstructionSet.allCases.filter(\.isAvailable)

/// Reproducible numbers (SplitMix64).
struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func floats(_ count: Int, in range: ClosedRange<Float> = -1...1) -> [Float] {
    (0..<count).map { _ in Float.random(in: range, using: &self) }
  }
}

/// The distance of `value` from `exact` in units of the last place of the float nearest `exact`.
func ulps(_ value: Float, _ exact: Double) -> Double {
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

/// Values `[channel][row][column]` in channel blocks with a border of `halo` pixels of `padding`.
struct BlockedPlanes {
  let channels: Int
  let rows: Int
  let width: Int
  let halo: Int
  let block: Int
  var blocks: Int { (channels + block - 1) / block }
  var rowStride: Int { (width + 2 * halo) * block }
  var blockStride: Int { (rows + 2 * halo) * rowStride }
  var count: Int { blocks * blockStride }
  var strides: Strides {
    Strides(pixel: block, row: rowStride, block: blockStride, image: count)
  }
  var extent: Extent { Extent(blocks: blocks, rows: rows, width: width) }
  /// Of pixel (0, 0), inside the border.
  var origin: Int { halo * rowStride + halo * block }

  func index(_ channel: Int, _ row: Int, _ column: Int) -> Int {
    origin + channel / block * blockStride + row * rowStride + column * block + channel % block
  }

  func blocked(_ planar: [Float], padding: Float = 0) -> [Float] {
    var result = [Float](repeating: padding, count: count)
    for c in 0..<channels {
      for y in 0..<rows {
        for x in 0..<width { result[index(c, y, x)] = planar[(c * rows + y) * width + x] }
      }
    }
    return result
  }

  func planar(_ blocked: [Float]) -> [Float] {
    var result = [Float]()
    for c in 0..<channels {
      for y in 0..<rows { for x in 0..<width { result.append(blocked[index(c, y, x)]) } }
    }
    return result
  }
}

extension WeightFormat {
  var isSingle: Bool { if case .float32 = self { true } else { false } }
}
