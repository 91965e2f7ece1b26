import KernelInterface

/// See `ReductionArguments`. Four vectors run side by side and meet in halves.
@inline(never)
func reduce(_ a: ReductionArguments) -> Float {
  switch a.function {
  case .sum: fold(a, neutral: 0) { $0 + $1 } lane: { $0 + $1 }
  case .sumOfSquares: fold(a, neutral: 0, { $0 * $0 }) { $0 + $1 } lane: { $0 + $1 }
  case .sumOfMagnitudes: fold(a, neutral: 0, { magnitude($0) }) { $0 + $1 } lane: { $0 + $1 }
  case .product: fold(a, neutral: 1) { $0 * $1 } lane: { $0 * $1 }
  case .maximum:
    fold(a, neutral: -.infinity) {
      larger($0, $1)
    } lane: {
      $1 != $1 || $1 > $0 ? $1 : $0
    }
  case .minimum:
    fold(a, neutral: .infinity) {
      smaller($0, $1)
    } lane: {
      $1 != $1 || $1 < $0 ? $1 : $0
    }
  }
}

/// The larger one; a NaN wins.
@inline(__always)
func larger(_ a: Vector, _ b: Vector) -> Vector { select(b .== b, maximum(a, b), b) }

/// The smaller one; a NaN wins.
@inline(__always)
func smaller(_ a: Vector, _ b: Vector) -> Vector { select(b .== b, minimum(a, b), b) }

@inline(__always)
private func fold(
  _ a: ReductionArguments, neutral: Float, _ prepare: (Vector) -> Vector = { $0 },
  _ body: (Vector, Vector) -> Vector, lane: (Float, Float) -> Float
) -> Float {
  var sums = InlineArray<4, Vector>(repeating: splat(neutral))
  var i = 0
  while i &+ 4 &* lanes <= a.count {
    for n in 0..<4 { sums[n] = body(sums[n], prepare(load(a.input + (i &+ n &* lanes)))) }
    i &+= 4 &* lanes
  }
  var n = 0
  while i &+ lanes <= a.count {
    sums[n] = body(sums[n], prepare(load(a.input + i)))
    n &+= 1
    i &+= lanes
  }
  let total = body(body(sums[0], sums[1]), body(sums[2], sums[3]))
  var result = neutral
  for l in 0..<lanes { result = lane(result, total[l]) }
  if i < a.count {
    let tail = prepare(load(a.input + i, count: a.count &- i))
    for l in 0..<(a.count &- i) { result = lane(result, tail[l]) }
  }
  return result
}

/// See `PlaneReductionArguments`. A row's even and odd pixels run apart, then rows follow each other.
@inline(never)
func reducePlane(_ a: PlaneReductionArguments) {
  switch a.function {
  case .sum: foldPlane(a, neutral: 0) { $0 + $1 }
  case .sumOfSquares: foldPlane(a, neutral: 0, { $0 * $0 }) { $0 + $1 }
  case .sumOfMagnitudes: foldPlane(a, neutral: 0, { magnitude($0) }) { $0 + $1 }
  case .product: foldPlane(a, neutral: 1) { $0 * $1 }
  case .maximum: foldPlane(a, neutral: -.infinity) { larger($0, $1) }
  case .minimum: foldPlane(a, neutral: .infinity) { smaller($0, $1) }
  }
}

@inline(__always)
private func foldPlane(
  _ a: PlaneReductionArguments, neutral: Float, _ prepare: (Vector) -> Vector = { $0 },
  _ body: (Vector, Vector) -> Vector
) {
  for half in 0..<vectorsPerBlock {
    var total = splat(neutral)
    var y = 0
    while y < a.rows {
      let row = a.input + (y &* a.inputRowStride &+ half &* lanes)
      var even = splat(neutral)
      var odd = splat(neutral)
      var x = 0
      while x &+ 2 <= a.width {
        even = body(even, prepare(load(row + x &* channelBlock)))
        odd = body(odd, prepare(load(row + (x &+ 1) &* channelBlock)))
        x &+= 2
      }
      if x < a.width { even = body(even, prepare(load(row + x &* channelBlock))) }
      total = body(total, body(even, odd))
      y &+= 1
    }
    store(total, a.output + half &* lanes)
  }
}
