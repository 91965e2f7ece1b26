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
    }
  }
}

@inline(__always)
private func fold(
  _ a: CombiningArguments, finish: (Vector) -> Vector = { $0 },
  _ body: (Vector, Vector) -> Vector
) {
  guard a.operandCount > 0 else { return }
  var i = 0
  if a.operandCount == 2, a.operands[0].broadcast == .none, a.operands[1].broadcast == .none {
    let x = a.operands[0].values
    let y = a.operands[1].values
    while i &+ lanes <= a.count {
      store(finish(body(load(x + i), load(y + i))), a.output + i)
      i &+= lanes
    }
  }
  while i &+ lanes <= a.count {
    var value = operand(a.operands[0], at: i)
    var n = 1
    while n < a.operandCount {
      value = body(value, operand(a.operands[n], at: i))
      n &+= 1
    }
    store(finish(value), a.output + i)
    i &+= lanes
  }
  if i < a.count {
    let count = a.count &- i
    var value = load(a.operands[0].values + i, count: count)
    var n = 1
    while n < a.operandCount {
      value = body(value, load(a.operands[n].values + i, count: count))
      n &+= 1
    }
    store(finish(value), a.output + i, count: count)
  }
}

@inline(__always)
private func operand(_ operand: CombiningOperand, at i: Int) -> Vector {
  switch operand.broadcast {
  case .none: load(operand.values + i)
  case .channel: load(operand.values + i & (channelBlock &- 1))
  case .pixel: splat(operand.values[i & ~(channelBlock &- 1)])
  }
}
