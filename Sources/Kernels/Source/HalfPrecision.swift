import CVector

/// Converts a vector of IEEE 754 binary16 values, exactly.
@inline(__always)
func loadHalf(_ address: UnsafeRawPointer) -> Vector {
  vector_from_half(address.loadUnaligned(as: vector_half.self))
}

/// The first `count` lanes, with zeros in the others; reads nothing else.
@inline(__always)
func loadHalf(_ address: UnsafeRawPointer, count: Int) -> Vector {
  var value = vector_half.zero
  withUnsafeMutableBytes(of: &value) { bytes in
    if let base = bytes.baseAddress { base.copyMemory(from: address, byteCount: count &* 2) }
  }
  return vector_from_half(value)
}

/// Rounds `count` values in place, ties to even.
func roundToHalf(_ values: UnsafeMutablePointer<Float>, count: Int) {
  var index = 0
  while index &+ lanes <= count {
    store(vector_round_to_half(load(values + index)), values + index)
    index &+= lanes
  }
  if index < count {
    let rest = count &- index
    let part = load(UnsafeRawPointer(values + index), count: rest)
    store(vector_round_to_half(part), values + index, count: rest)
  }
}
