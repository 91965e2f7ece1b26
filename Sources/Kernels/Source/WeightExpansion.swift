import CVector
import KernelInterface

extension Table {
  @inline(never)
  package static func expandWeights(_ a: ExpansionArguments) {
    switch a.format {
    case .half: expandHalves(a)
    case .linear(let bits, let scale, let bias):
      switch bits {
      case 1: expandLinear(Count<1>(), a, scale, bias)
      case 2: expandLinear(Count<2>(), a, scale, bias)
      case 3: expandLinear(Count<3>(), a, scale, bias)
      case 4: expandLinear(Count<4>(), a, scale, bias)
      case 5: expandLinear(Count<5>(), a, scale, bias)
      case 6: expandLinear(Count<6>(), a, scale, bias)
      case 7: expandLinear(Count<7>(), a, scale, bias)
      default: expandLinear(Count<8>(), a, scale, bias)
      }
      if a.roundsToHalf { roundToHalf(a.output, count: a.count) }
    case .table(let bits, let table):
      switch bits {
      case 1: expandTable(Count<1>(), a, table)
      case 2: expandTable(Count<2>(), a, table)
      case 3: expandTable(Count<3>(), a, table)
      case 4: expandTable(Count<4>(), a, table)
      case 5: expandTable(Count<5>(), a, table)
      case 6: expandTable(Count<6>(), a, table)
      case 7: expandTable(Count<7>(), a, table)
      default:
        expandBytes(ByteRows(base: a.source + a.first), count: a.count, table, to: a.output)
      }
    }
  }
}

private func expandHalves(_ a: ExpansionArguments) {
  let source = a.source + a.first &* 2
  var index = 0
  while index &+ lanes <= a.count {
    store(loadHalf(source + index &* 2), a.output + index)
    index &+= lanes
  }
  if index < a.count {
    let count = a.count &- index
    store(loadHalf(source + index &* 2, count: count), a.output + index, count: count)
  }
}

@inline(__always)
private func expandLinear<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ scale: Float, _ bias: Float
) {
  expandCodes(b, a) { vector_scale($0, splat(scale), splat(bias)) }
}

@inline(__always)
private func expandTable<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ table: UnsafePointer<Float>
) {
  if bits <= Int(VECTOR_TABLE_BITS) {
    expandCodes(b, a) { vector_look_up($0, Int32(truncatingIfNeeded: bits), table) }
    return
  }
  let wholeBytes = table + CodeTable.count(bits: bits)
  switch bits {
  case 1: expandWholeBytes(Count<8>(), SIMD8<Float>.self, a, wholeBytes)
  case 2: expandWholeBytes(Count<4>(), SIMD4<Float>.self, a, wholeBytes)
  case 4: expandWholeBytes(Count<2>(), SIMD2<Float>.self, a, wholeBytes)
  default: expandOneByOne(b, a, table)
  }
}

// MARK: - In vectors

/// Number of codes in a group that starts at a byte: one vector, or two vectors of four lanes.
@inline(__always)
private var groupCodes: Int { max(8, lanes) }

@inline(__always)
private func expandCodes<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ value: (IntegerVector) -> Vector
) {
  let end = a.first &+ a.count
  let bytesEnd = a.source + ((end &* bits &+ 7) &>> 3)
  var element = a.first
  if bits < 8 && element & 7 != 0 {
    let next = min(end, (element | 7) &+ 1)
    expandPart(b, a, element..<next, value)
    element = next
  }
  var source = a.source + ((element &* bits) &>> 3)
  var output = a.output + (element &- a.first)
  // Reading a group reads as many bytes as it has codes.
  while element &+ groupCodes <= end && source + groupCodes <= bytesEnd {
    expandGroup(b, source, to: output, value)
    source += (groupCodes &* bits) &>> 3
    output += groupCodes
    element &+= groupCodes
  }
  while element < end {
    let next = min(end, element &+ groupCodes)
    expandPart(b, a, element..<next, value)
    element = next
  }
}

@inline(__always)
private func expandGroup<let bits: Int>(
  _: Count<bits>, _ source: UnsafeRawPointer, to output: UnsafeMutablePointer<Float>,
  _ value: (IntegerVector) -> Vector
) {
  for part in 0..<groupCodes / lanes {
    let codes = vector_codes(
      source, Int32(truncatingIfNeeded: bits), Int32(truncatingIfNeeded: part))
    store(value(codes), output + part &* lanes)
  }
}

/// Expands some elements of one group; reads no others.
@inline(__always)
private func expandPart<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ elements: Range<Int>,
  _ value: (IntegerVector) -> Vector
) {
  let group = bits == 8 ? elements.lowerBound : elements.lowerBound & ~7
  let first = (elements.lowerBound &* bits) &>> 3
  let end = (elements.upperBound &* bits &+ 7) &>> 3
  var bytes = SIMD32<UInt8>.zero
  var values = SIMD16<Float>.zero
  withUnsafeMutableBytes(of: &bytes) { bytes in
    withUnsafeMutableBytes(of: &values) { values in
      guard let source = bytes.baseAddress, let target = values.baseAddress else { return }
      (source + (first &- ((group &* bits) &>> 3))).copyMemory(
        from: a.source + first, byteCount: end &- first)
      expandGroup(b, source, to: target.assumingMemoryBound(to: Float.self), value)
      UnsafeMutableRawPointer(a.output + (elements.lowerBound &- a.first)).copyMemory(
        from: target + (elements.lowerBound &- group) &* 4, byteCount: elements.count &* 4)
    }
  }
}

#if KERNELS_AVX512
  private let permutesBytes = vector_permutes_bytes()
#endif

struct ByteRows {
  var base: UnsafeRawPointer
  var count = 1
  var stride = 0
}

/// Expands `count` bytes of some rows by a table of 256 values.
func expandBytes(
  _ rows: ByteRows, count: Int, _ values: UnsafePointer<Float>,
  to output: UnsafeMutablePointer<Float>, outputStride: Int = 0
) {
  var first = 0
  #if KERNELS_AVX512
    if permutesBytes {
      first = count & ~63
      vector_permute_bytes(
        rows.base, rows.stride, rows.count, first / 64, values, output, outputStride)
    }
    let rest = (count &- first) / 32
    if rest > 0 {
      vector_look_up_bytes(
        rows.base + first, rows.stride, rows.count, rest, values, output + first, outputStride)
      first &+= rest &* 32
    }
  #endif
  var row = 0
  while row < rows.count {
    var index = first
    while index < count {
      output[row &* outputStride &+ index] =
        values[Int(byte(rows.base, row &* rows.stride &+ index))]
      index &+= 1
    }
    row &+= 1
  }
}

// MARK: - One by one

@inline(__always)
private func byte(_ bytes: UnsafeRawPointer, _ index: Int) -> UInt8 {
  bytes.load(fromByteOffset: index, as: UInt8.self)
}

/// The code at `index`, which may span two bytes.
@inline(__always)
private func code<let bits: Int>(_: Count<bits>, _ bytes: UnsafeRawPointer, _ index: Int) -> Int {
  let position = index &* bits
  let rest = position & 7
  let high = Int(byte(bytes, position &>> 3)) &<< 8
  let low = rest &+ bits > 8 ? Int(byte(bytes, (position &>> 3) &+ 1)) : 0
  return (high | low) &>> (16 &- rest &- bits) & ((1 &<< bits) &- 1)
}

/// Expands codes one by one up to a whole group of eight, then in groups of eight, then the rest
/// one by one.
@inline(__always)
private func expandOneByOne<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ table: UnsafePointer<Float>
) {
  var index = 0
  while index < a.count && (a.first &+ index) & 7 != 0 {
    a.output[index] = table[code(b, a.source, a.first &+ index)]
    index &+= 1
  }
  while index &+ 8 <= a.count {
    let bytes = a.source + ((a.first &+ index) &>> 3) &* bits
    var word = 0
    for i in 0..<bits { word = word &<< 8 | Int(byte(bytes, i)) }
    for i in 0..<8 {
      a.output[index &+ i] = table[word &>> (bits &* (7 &- i)) & ((1 &<< bits) &- 1)]
    }
    index &+= 8
  }
  while index < a.count {
    a.output[index] = table[code(b, a.source, a.first &+ index)]
    index &+= 1
  }
}

/// Expands codes that fill bytes evenly: the table has the values of all codes of a byte next to
/// each other.
@inline(__always)
private func expandWholeBytes<let codes: Int, Values: SIMD>(
  _: Count<codes>, _: Values.Type, _ a: ExpansionArguments, _ table: UnsafePointer<Float>
) where Values.Scalar == Float {
  let values = UnsafeRawPointer(table)
  var index = 0
  while index < a.count && (a.first &+ index) % codes != 0 {
    let element = a.first &+ index
    a.output[index] = table[Int(byte(a.source, element / codes)) &* codes &+ element % codes]
    index &+= 1
  }
  var source = a.source + (a.first &+ index) / codes
  while index &+ codes <= a.count {
    let value = values.loadUnaligned(
      fromByteOffset: Int(byte(source, 0)) &* codes &* 4, as: Values.self)
    UnsafeMutableRawPointer(a.output + index).storeBytes(of: value, as: Values.self)
    source += 1
    index &+= codes
  }
  while index < a.count {
    let element = a.first &+ index
    a.output[index] = table[Int(byte(a.source, element / codes)) &* codes &+ element % codes]
    index &+= 1
  }
}
