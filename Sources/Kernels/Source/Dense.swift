import KernelInterface

/// See `DenseArguments`.
///
/// The order of a row's sum is fixed: even and odd vectors apart, then their sum's lanes in halves.
@inline(never)
func dense(_ a: DenseArguments) {
  var row = 0
  while row < a.rows {
    let four = row &+ 4 <= a.rows
    var n = 0
    while n < a.batch {
      switch (four, n &+ 2 <= a.batch) {
      case (true, true): denseTile(Count<4>(), Count<2>(), a, row: row, vector: n)
      case (true, false): denseTile(Count<4>(), Count<1>(), a, row: row, vector: n)
      case (false, _): denseTile(Count<1>(), Count<1>(), a, row: row, vector: n)
      }
      n &+= four && n &+ 2 <= a.batch ? 2 : 1
    }
    row &+= four ? 4 : 1
  }
}

@inline(__always)
private func denseTile<let rows: Int, let vectors: Int>(
  _ r: Count<rows>, _ v: Count<vectors>, _ a: DenseArguments, row: Int, vector: Int
) {
  switch a.format {
  case .float32:
    denseTile(r, v, a, row: row, vector: vector, bytes: 4) {
      $0.loadUnaligned(as: Vector.self)
    } tail: {
      load($0, count: $1)
    }
  case .float16:
    denseTile(r, v, a, row: row, vector: vector, bytes: 2) {
      loadHalf($0)
    } tail: {
      loadHalf($0, count: $1)
    }
  }
}

@inline(__always)
private func denseTile<let rows: Int, let vectors: Int>(
  _: Count<rows>, _: Count<vectors>, _ a: DenseArguments, row: Int, vector: Int,
  bytes: Int, whole: (UnsafeRawPointer) -> Vector, tail: (UnsafeRawPointer, Int) -> Vector
) {
  var even = InlineArray<rows, InlineArray<vectors, Vector>>(
    repeating: InlineArray(repeating: .zero))
  var odd = even
  let rowBytes = a.rowStride &* bytes
  let w = a.weights + row &* rowBytes
  let x = a.input + vector &* a.inputStride
  let inputStride = a.inputStride
  var k = 0
  while k &+ 2 &* lanes <= a.columns {
    var x0 = InlineArray<vectors, Vector>(repeating: .zero)
    var x1 = x0
    for v in 0..<vectors {
      x0[v] = load(x + (v &* inputStride &+ k))
      x1[v] = load(x + (v &* inputStride &+ k &+ lanes))
    }
    for r in 0..<rows {
      let w0 = whole(w + (r &* rowBytes &+ k &* bytes))
      let w1 = whole(w + (r &* rowBytes &+ (k &+ lanes) &* bytes))
      for v in 0..<vectors {
        even[r][v] = multiplyAdd(w0, x0[v], even[r][v])
        odd[r][v] = multiplyAdd(w1, x1[v], odd[r][v])
      }
    }
    k &+= 2 &* lanes
  }
  while k < a.columns {
    let count = min(lanes, a.columns &- k)
    for r in 0..<rows {
      let value = tail(w + (r &* rowBytes &+ k &* bytes), count)
      for v in 0..<vectors {
        even[r][v] = multiplyAdd(value, load(x + (v &* inputStride &+ k), count: count), even[r][v])
      }
    }
    k &+= lanes
  }
  for r in 0..<rows {
    let bias = a.bias?[row &+ r] ?? 0
    for v in 0..<vectors {
      let sum = laneSum(even[r][v] + odd[r][v]) + bias
      a.output[(vector &+ v) &* a.outputStride &+ row &+ r] = activate(
        sum, a.epilogue, channel: row &+ r)
    }
  }
}

@inline(__always)
private func activate(_ x: Float, _ epilogue: Epilogue, channel: Int) -> Float {
  switch epilogue.activation {
  case .none: x
  case .relu: x < 0 ? 0 : x
  case .clip: x < epilogue.lower ? epilogue.lower : x > epilogue.upper ? epilogue.upper : x
  case .leaky: x < 0 ? x * epilogue.alpha : x
  case .prelu: x < 0 ? x * (epilogue.slopes?[channel] ?? 1) : x
  }
}
