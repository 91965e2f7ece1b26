import KernelInterface

/// A function of two vectors, as a type: see `UnaryBody`.
private protocol PairBody { static func value(_ a: Vector, _ b: Vector) -> Vector }

private enum Added: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { a + b }
}

private enum Multiplied: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { a * b }
}

private enum Greatest: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { Largest.combine(a, b) }
}

private enum Least: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { Smallest.combine(a, b) }
}

private enum Subtracted: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { a - b }
}

private enum Divided: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { a / b }
}

private enum DividedDown: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { floorDivide(a, b) }
}

private enum Modulo: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { modulo(a, b) }
}

private enum Raised: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { power(a, b) }
}

private enum Equal: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { indicator(a .== b) }
}

private enum NotEqual: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { indicator(a .!= b) }
}

private enum Less: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { indicator(a .< b) }
}

private enum LessEqual: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { indicator(a .<= b) }
}

private enum Greater: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { indicator(a .> b) }
}

private enum GreaterEqual: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector { indicator(a .>= b) }
}

private enum And: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector {
    indicator((a .!= .zero) .& (b .!= .zero))
  }
}

private enum Or: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector {
    indicator((a .!= .zero) .| (b .!= .zero))
  }
}

private enum Xor: PairBody {
  @inline(__always)
  static func value(_ a: Vector, _ b: Vector) -> Vector {
    indicator((a .!= .zero) .^ (b .!= .zero))
  }
}

@inline(__always)
private func indicator(_ mask: Mask) -> Vector { select(mask, splat(1), .zero) }

extension Table {
  @inline(never)
  package static func combine(_ a: CombiningArguments) {
    switch a.function {
    case .add: fold(a, Added.self)
    case .multiply: fold(a, Multiplied.self)
    case .maximum: fold(a, Greatest.self)
    case .minimum: fold(a, Least.self)
    case .average: fold(a, Added.self, divisor: Float(a.operandCount))
    case .subtract: fold(a, Subtracted.self)
    case .divide: fold(a, Divided.self)
    case .floorDivide: fold(a, DividedDown.self)
    case .modulo: fold(a, Modulo.self)
    case .power: fold(a, Raised.self)
    case .equal: fold(a, Equal.self)
    case .notEqual: fold(a, NotEqual.self)
    case .less: fold(a, Less.self)
    case .lessEqual: fold(a, LessEqual.self)
    case .greater: fold(a, Greater.self)
    case .greaterEqual: fold(a, GreaterEqual.self)
    case .logicalAnd: fold(a, And.self)
    case .logicalOr: fold(a, Or.self)
    case .logicalXor: fold(a, Xor.self)
    case .choose:
      guard a.operandCount == 3 else { return }
      each(a) { operand in select(operand(0) .!= .zero, operand(1), operand(2)) }
    }
  }
}

@inline(__always)
private func fold<Body: PairBody>(_ a: CombiningArguments, _: Body.Type, divisor: Float = 1) {
  guard a.operandCount > 0 else { return }
  var i = 0
  if divisor == 1, a.operandCount == 2, case .none = a.operands[0].broadcast,
    case .none = a.operands[1].broadcast
  {
    let x = a.operands[0].values
    let y = a.operands[1].values
    while i &+ lanes <= a.count {
      store(Body.value(load(x + i), load(y + i)), a.output + i)
      i &+= lanes
    }
  }
  each(a, from: i) { operand in
    var value = operand(0)
    var n = 1
    while n < a.operandCount {
      value = Body.value(value, operand(n))
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
