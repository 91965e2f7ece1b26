#if KERNELS_AVX512
  private typealias HalfVector = SIMD16<UInt16>
#elseif KERNELS_AVX2
  private typealias HalfVector = SIMD8<UInt16>
#else
  private typealias HalfVector = SIMD4<UInt16>
#endif

/// A vector of IEEE 754 binary16 values, exactly.
@inline(__always)
func loadHalf(_ address: UnsafeRawPointer) -> Vector {
  expand(address.loadUnaligned(as: HalfVector.self))
}

/// The first `count` lanes, zeros in the others; reads nothing else.
@inline(__always)
func loadHalf(_ address: UnsafeRawPointer, count: Int) -> Vector {
  var value = HalfVector.zero
  withUnsafeMutableBytes(of: &value) { bytes in
    if let base = bytes.baseAddress { base.copyMemory(from: address, byteCount: count &* 2) }
  }
  return expand(value)
}

@inline(__always)
private func expand(_ half: HalfVector) -> Vector {
  let h = IntegerVector(truncatingIfNeeded: half)
  // Exponent and fraction in their place, the exponent's bias off by 112: the product puts it
  // right and normalises subnormal values on the way.
  let scaled = float((h & splat(Int32(0x7fff))) &<< splat(Int32(13))) * splat(0x1p112)
  let special = (h & splat(Int32(0x7c00))) .== splat(Int32(0x7c00))
  let mask = unsafeBitCast(special, to: IntegerVector.self)
  let sign = (h & splat(Int32(0x8000))) &<< splat(Int32(16))
  return float(bits(scaled) | (mask & splat(Int32(0x7f80_0000))) | sign)
}
