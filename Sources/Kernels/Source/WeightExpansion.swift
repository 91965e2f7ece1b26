import CVector
import KernelInterface

/// See `ExpansionArguments`.
@inline(never)
func expandWeights(_ a: ExpansionArguments) {
  switch a.format {
  case .half: expandHalves(a)
  case .linear(8, let scale, let bias): expandBytes(a, scale: scale, bias: bias)
  case .linear(let bits, let scale, let bias):
    switch bits {
    case 1: expandLinear(Count<1>(), a, scale, bias)
    case 2: expandLinear(Count<2>(), a, scale, bias)
    case 3: expandLinear(Count<3>(), a, scale, bias)
    case 4: expandLinear(Count<4>(), a, scale, bias)
    case 5: expandLinear(Count<5>(), a, scale, bias)
    case 6: expandLinear(Count<6>(), a, scale, bias)
    default: expandLinear(Count<7>(), a, scale, bias)
    }
  case .table(8, let table):
    for index in 0..<a.count { a.output[index] = table[Int(byte(a.source, a.first &+ index))] }
  case .table(let bits, let table):
    switch bits {
    case 1: expandWholeBytes(Count<8>(), SIMD8<Float>.self, a, table)
    case 2: expandWholeBytes(Count<4>(), SIMD4<Float>.self, a, table)
    case 4: expandWholeBytes(Count<2>(), SIMD2<Float>.self, a, table)
    case 3: expandTable(Count<3>(), a, table)
    case 5: expandTable(Count<5>(), a, table)
    case 6: expandTable(Count<6>(), a, table)
    default: expandTable(Count<7>(), a, table)
    }
  }
}

@inline(__always)
private func byte(_ bytes: UnsafeRawPointer, _ index: Int) -> UInt8 {
  bytes.load(fromByteOffset: index, as: UInt8.self)
}

/// Rounded once: the product is exact in double precision.
@inline(__always)
private func scaled(_ code: Int, _ scale: Float, _ bias: Float) -> Float {
  Float(Double(scale) * Double(code) + Double(bias))
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

private func expandBytes(_ a: ExpansionArguments, scale: Float, bias: Float) {
  let source = a.source + a.first
  var index = 0
  while index &+ lanes <= a.count {
    let codes = (source + index).loadUnaligned(as: vector_bytes.self)
    store(vector_scale_bytes(codes, scale, bias), a.output + index)
    index &+= lanes
  }
  while index < a.count {
    a.output[index] = scaled(Int(byte(source, index)), scale, bias)
    index &+= 1
  }
}

/// The code at `index`, whose bits may lie in two bytes.
@inline(__always)
private func code<let bits: Int>(_: Count<bits>, _ bytes: UnsafeRawPointer, _ index: Int) -> Int {
  let position = index &* bits
  let rest = position & 7
  let high = Int(byte(bytes, position &>> 3)) &<< 8
  let low = rest &+ bits > 8 ? Int(byte(bytes, (position &>> 3) &+ 1)) : 0
  return (high | low) &>> (16 &- rest &- bits) & ((1 &<< bits) &- 1)
}

/// Codes one by one up to a whole group of eight, groups of eight, and the rest one by one.
@inline(__always)
private func forEachGroup<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, one: (Int) -> Float,
  group: (UnsafeRawPointer, UnsafeMutablePointer<Float>) -> Void
) {
  var index = 0
  while index < a.count && (a.first &+ index) & 7 != 0 {
    a.output[index] = one(code(b, a.source, a.first &+ index))
    index &+= 1
  }
  while index &+ 8 <= a.count {
    group(a.source + ((a.first &+ index) &>> 3) &* bits, a.output + index)
    index &+= 8
  }
  while index < a.count {
    a.output[index] = one(code(b, a.source, a.first &+ index))
    index &+= 1
  }
}

@inline(__always)
private func expandLinear<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ scale: Float, _ bias: Float
) {
  forEachGroup(
    b, a, one: { scaled($0, scale, bias) },
    group: { vector_expand_codes($0, Int32(truncatingIfNeeded: bits), scale, bias, $1) })
}

@inline(__always)
private func expandTable<let bits: Int>(
  _ b: Count<bits>, _ a: ExpansionArguments, _ table: UnsafePointer<Float>
) {
  forEachGroup(
    b, a, one: { table[$0] },
    group: { bytes, target in
      var word = 0
      for i in 0..<bits { word = word &<< 8 | Int(byte(bytes, i)) }
      for i in 0..<8 {
        target[i] = table[word &>> (bits &* (7 &- i)) & ((1 &<< bits) &- 1)]
      }
    })
}

/// Codes that fill bytes evenly: the values of a byte's codes stand side by side in the table.
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
