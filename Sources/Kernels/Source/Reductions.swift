import KernelInterface

extension Table {
  /// Accumulates four vectors in parallel, then combines them by halves.
  @inline(never)
  package static func reduce(_ function: Reduction, _ input: UnsafePointer<Float>, count: Int)
    -> Float
  {
    switch function {
    case .sum: reduced(Sum.self, input, count)
    case .sumOfSquares: reduced(SumOfSquares.self, input, count)
    case .sumOfMagnitudes: reduced(SumOfMagnitudes.self, input, count)
    case .product: reduced(Product.self, input, count)
    case .maximum: reduced(Largest.self, input, count)
    case .minimum: reduced(Smallest.self, input, count)
    }
  }
}

@inline(__always)
private func reduced<F: Fold>(
  _: F.Type, _ input: UnsafePointer<Float>, _ count: Int
) -> Float {
  var parts = InlineArray<4, Vector>(repeating: splat(F.neutral))
  var i = 0
  while i &+ 4 &* lanes <= count {
    for n in 0..<4 { parts[n] = F.combine(parts[n], F.prepare(load(input + (i &+ n &* lanes)))) }
    i &+= 4 &* lanes
  }
  var n = 0
  while i &+ lanes <= count {
    parts[n] = F.combine(parts[n], F.prepare(load(input + i)))
    n &+= 1
    i &+= lanes
  }
  let total = F.combine(F.combine(parts[0], parts[1]), F.combine(parts[2], parts[3]))
  let result = F.lanes(total, count: lanes)
  guard i < count else { return result }
  let rest = count &- i
  return F.lanes(F.prepare(load(input + i, count: rest)), count: rest, on: result)
}

extension Table {
  /// Accumulates even and odd pixels separately.
  @inline(never)
  package static func reduceBlock(
    _ function: Reduction, _ input: UnsafePointer<Float>, pixels: Int,
    to output: UnsafeMutablePointer<Float>
  ) {
    switch function {
    case .sum: reduceLanes(Sum.self, input, pixels, output)
    case .sumOfSquares: reduceLanes(SumOfSquares.self, input, pixels, output)
    case .sumOfMagnitudes: reduceLanes(SumOfMagnitudes.self, input, pixels, output)
    case .product: reduceLanes(Product.self, input, pixels, output)
    case .maximum: reduceLanes(Largest.self, input, pixels, output)
    case .minimum: reduceLanes(Smallest.self, input, pixels, output)
    }
  }
}

@inline(__always)
private func reduceLanes<F: Fold>(
  _: F.Type, _ input: UnsafePointer<Float>, _ pixels: Int, _ output: UnsafeMutablePointer<Float>
) {
  for half in 0..<vectorsPerBlock {
    let row = input + half &* lanes
    var even = splat(F.neutral)
    var odd = even
    var x = 0
    while x &+ 2 <= pixels {
      even = F.combine(even, F.prepare(load(row + x &* channelBlock)))
      odd = F.combine(odd, F.prepare(load(row + (x &+ 1) &* channelBlock)))
      x &+= 2
    }
    if x < pixels { even = F.combine(even, F.prepare(load(row + x &* channelBlock))) }
    store(F.combine(splat(F.neutral), F.combine(even, odd)), output + half &* lanes)
  }
}
