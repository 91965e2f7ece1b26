import KernelInterface

@inline(__always)
private func indicator(_ mask: Mask) -> Vector { select(mask, splat(1), .zero) }

@inline(__always)
private func equal(_ a: Vector, _ b: Vector) -> Vector { indicator(a .== b) }

@inline(__always)
private func notEqual(_ a: Vector, _ b: Vector) -> Vector { indicator(a .!= b) }

@inline(__always)
private func less(_ a: Vector, _ b: Vector) -> Vector { indicator(a .< b) }

@inline(__always)
private func lessEqual(_ a: Vector, _ b: Vector) -> Vector { indicator(a .<= b) }

@inline(__always)
private func greater(_ a: Vector, _ b: Vector) -> Vector { indicator(a .> b) }

@inline(__always)
private func greaterEqual(_ a: Vector, _ b: Vector) -> Vector { indicator(a .>= b) }

@inline(__always)
private func and(_ a: Vector, _ b: Vector) -> Vector {
  indicator((a .!= .zero) .& (b .!= .zero))
}

@inline(__always)
private func or(_ a: Vector, _ b: Vector) -> Vector {
  indicator((a .!= .zero) .| (b .!= .zero))
}

@inline(__always)
private func xor(_ a: Vector, _ b: Vector) -> Vector {
  indicator((a .!= .zero) .^ (b .!= .zero))
}

@inline(__always)
private func greatest(_ a: Vector, _ b: Vector) -> Vector { Largest.combine(a, b) }

@inline(__always)
private func least(_ a: Vector, _ b: Vector) -> Vector { Smallest.combine(a, b) }

extension Table {
  @inline(never)
  package static func combine(_ a: CombiningArguments) {
    switch a.function {
    case .add: fold(a, +)
    case .multiply: fold(a, *)
    case .maximum: fold(a, greatest)
    case .minimum: fold(a, least)
    case .average: fold(a, divisor: Float(a.operandCount), +)
    case .subtract: fold(a, -)
    case .divide: fold(a, /)
    case .floorDivide: fold(a, floorDivide)
    case .modulo: fold(a, modulo)
    case .power: fold(a, power)
    case .equal: fold(a, equal)
    case .notEqual: fold(a, notEqual)
    case .less: fold(a, less)
    case .lessEqual: fold(a, lessEqual)
    case .greater: fold(a, greater)
    case .greaterEqual: fold(a, greaterEqual)
    case .logicalAnd: fold(a, and)
    case .logicalOr: fold(a, or)
    case .logicalXor: fold(a, xor)
    case .choose:
      guard a.operandCount == 3 else { return }
      each(a) { operand in select(operand(0) .!= .zero, operand(1), operand(2)) }
    }
  }
}

/// Combines the operands with a function that is always inlined; see `map`.
@inline(__always)
private func fold(
  _ a: CombiningArguments, divisor: Float = 1, _ function: (Vector, Vector) -> Vector
) {
  guard a.operandCount > 0 else { return }
  var i = 0
  if divisor == 1, a.operandCount == 2, case .none = a.operands[0].broadcast,
    case .none = a.operands[1].broadcast
  {
    let x = a.operands[0].values
    let y = a.operands[1].values
    while i &+ lanes <= a.count {
      store(function(load(x + i), load(y + i)), a.output + i)
      i &+= lanes
    }
  }
  each(a, from: i) { operand in
    var value = operand(0)
    var n = 1
    while n < a.operandCount {
      value = function(value, operand(n))
      n &+= 1
    }
    return divisor == 1 ? value : value / splat(divisor)
  }
}

/// Writes the result of `body` for each vector of the operands, from element `start` on.
@inline(__always)
private func each(
  _ a: CombiningArguments, from start: Int = 0, _ body: ((Int) -> Vector) -> Vector
) {
  var i = start
  while i &+ lanes <= a.count {
    store(body { operand(a.operands[$0], at: i) }, a.output + i)
    i &+= lanes
  }
  if i < a.count {
    let count = a.count &- i
    store(body { operand(a.operands[$0], at: i, count: count) }, a.output + i, count: count)
  }
}

@inline(__always)
private func operand(_ operand: CombiningOperand, at i: Int) -> Vector {
  switch operand.broadcast {
  case .none: load(operand.values + i)
  case .channel: load(operand.values + i & (channelBlock &- 1))
  case .pixel: splat(operand.values[i & ~(channelBlock &- 1)])
  case .all: splat(operand.values[0])
  }
}

/// The same for fewer elements than a vector has lanes.
@inline(__always)
private func operand(_ operand: CombiningOperand, at i: Int, count: Int) -> Vector {
  if case .all = operand.broadcast { return splat(operand.values[0]) }
  return load(operand.values + i, count: count)
}
