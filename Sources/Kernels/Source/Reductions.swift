import KernelInterface

/// See `ReductionArguments`. Four vectors run side by side and meet in halves.
@inline(never)
func reduce(_ a: ReductionArguments) -> Float {
  switch a.function {
  case .sum: reduce(a, Sum.self)
  case .sumOfSquares: reduce(a, SumOfSquares.self)
  case .sumOfMagnitudes: reduce(a, SumOfMagnitudes.self)
  case .product: reduce(a, Product.self)
  case .maximum: reduce(a, Largest.self)
  case .minimum: reduce(a, Smallest.self)
  }
}

@inline(__always)
private func reduce<F: Fold>(_ a: ReductionArguments, _: F.Type) -> Float {
  var parts = InlineArray<4, Vector>(repeating: splat(F.neutral))
  var i = 0
  while i &+ 4 &* lanes <= a.count {
    for n in 0..<4 {
      parts[n] = F.combine(parts[n], F.prepare(load(a.input + (i &+ n &* lanes))))
    }
    i &+= 4 &* lanes
  }
  var n = 0
  while i &+ lanes <= a.count {
    parts[n] = F.combine(parts[n], F.prepare(load(a.input + i)))
    n &+= 1
    i &+= lanes
  }
  let total = F.combine(F.combine(parts[0], parts[1]), F.combine(parts[2], parts[3]))
  let result = F.lanes(total, count: lanes)
  guard i < a.count else { return result }
  let rest = a.count &- i
  return F.lanes(F.prepare(load(a.input + i, count: rest)), count: rest, on: result)
}

/// See `PlaneReductionArguments`. A row's even and odd pixels run apart; rows follow each other.
@inline(never)
func reducePlane(_ a: PlaneReductionArguments) {
  switch a.function {
  case .sum: reducePlane(a, Sum.self)
  case .sumOfSquares: reducePlane(a, SumOfSquares.self)
  case .sumOfMagnitudes: reducePlane(a, SumOfMagnitudes.self)
  case .product: reducePlane(a, Product.self)
  case .maximum: reducePlane(a, Largest.self)
  case .minimum: reducePlane(a, Smallest.self)
  }
}

@inline(__always)
private func reducePlane<F: Fold>(_ a: PlaneReductionArguments, _: F.Type) {
  for half in 0..<vectorsPerBlock {
    var total = splat(F.neutral)
    var y = 0
    while y < a.rows {
      let row = a.input + (y &* a.inputRowStride &+ half &* lanes)
      var even = splat(F.neutral)
      var odd = even
      var x = 0
      while x &+ 2 <= a.width {
        even = F.combine(even, F.prepare(load(row + x &* channelBlock)))
        odd = F.combine(odd, F.prepare(load(row + (x &+ 1) &* channelBlock)))
        x &+= 2
      }
      if x < a.width { even = F.combine(even, F.prepare(load(row + x &* channelBlock))) }
      total = F.combine(total, F.combine(even, odd))
      y &+= 1
    }
    store(total, a.output + half &* lanes)
  }
}
