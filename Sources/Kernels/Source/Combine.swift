import KernelInterface

extension Table {
  @inline(never)
  package static func combine(_ a: CombiningArguments) {
    switch a.function {
    case .add: fold(a) { $0 + $1 }
    case .multiply: fold(a) { $0 * $1 }
    case .maximum: fold(a) { Largest.combine($0, $1) }
    case .minimum: fold(a) { Smallest.combine($0, $1) }
    case .average:
      let count = splat(Float(a.operandCount))
      fold(a, finish: { $0 / count }, { $0 + $1 })
    case .subtract: fold(a) { $0 - $1 }
    case .divide: fold(a) { $0 / $1 }
    case .floorDivide: fold(a) { floorDivide($0, $1) }
    case .modulo: fold(a) { modulo($0, $1) }
    case .power: fold(a) { power($0, $1) }
    case .equal: fold(a) { indicator($0 .== $1) }
    case .notEqual: fold(a) { indicator($0 .!= $1) }
    case .less: fold(a) { indicator($0 .< $1) }
    case .lessEqual: fold(a) { indicator($0 .<= $1) }
    case .greater: fold(a) { indicator($0 .> $1) }
    case .greaterEqual: fold(a) { indicator($0 .>= $1) }
    case .logicalAnd: fold(a) { indicator(($0 .!= .zero) .& ($1 .!= .zero)) }
    case .logicalOr: fold(a) { indicator(($0 .!= .zero) .| ($1 .!= .zero)) }
    case .logicalXor: fold(a) { indicator(($0 .!= .zero) .^ ($1 .!= .zero)) }
    case .choose:
      guard a.operandCount == 3 else { return }
      each(a) { operand in select(operand(0) .!= .zero, operand(1), operand(2)) }
    }
  }
}

@inline(__always)
private func indicator(_ mask: Mask) -> Vector { select(mask, splat(1), .zero) }

@inline(__always)
private func fold(
  _ a: CombiningArguments, finish: (Vector) -> Vector = { $0 },
  _ body: (Vector, Vector) -> Vector
) {
  guard a.operandCount > 0 else { return }
  var i = 0
  if a.operandCount == 2, case .none = a.operands[0].broadcast,
    case .none = a.operands[1].broadcast
  {
    let x = a.operands[0].values
    let y = a.operands[1].values
    while i &+ lanes <= a.count {
      store(finish(body(load(x + i), load(y + i))), a.output + i)
      i &+= lanes
    }
  }
  each(a, from: i) { operand in
    var value = operand(0)
    var n = 1
    while n < a.operandCount {
      value = body(value, operand(n))
      n &+= 1
    }
    return finish(value)
  }
}

/// What `body` makes of the operands' values, from the element `start` on.
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

/// The same for fewer elements than a vector has.
@inline(__always)
private func operand(_ operand: CombiningOperand, at i: Int, count: Int) -> Vector {
  if case .all = operand.broadcast { return splat(operand.values[0]) }
  return load(operand.values + i, count: count)
}
