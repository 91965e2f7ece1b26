import KernelInterface

extension Table {
  @inline(never)
  package static func multiplyAddLoop(rounds: Int) -> (count: Int, sum: Float) {
    // Each chain tends to 1, so no value becomes subnormal and slow.
    let factor = splat(0.999)
    let term = splat(0.001)
    var (a, b, c, d) = (Vector.zero, splat(0.1), splat(0.2), splat(0.3))
    var (e, f, g, h) = (splat(0.4), splat(0.5), splat(0.6), splat(0.7))
    var (i, j, k, l) = (splat(0.8), splat(0.9), splat(1.0), splat(1.1))
    for _ in 0..<rounds {
      a = multiplyAdd(a, factor, term)
      b = multiplyAdd(b, factor, term)
      c = multiplyAdd(c, factor, term)
      d = multiplyAdd(d, factor, term)
      e = multiplyAdd(e, factor, term)
      f = multiplyAdd(f, factor, term)
      g = multiplyAdd(g, factor, term)
      h = multiplyAdd(h, factor, term)
      i = multiplyAdd(i, factor, term)
      j = multiplyAdd(j, factor, term)
      k = multiplyAdd(k, factor, term)
      l = multiplyAdd(l, factor, term)
    }
    a += b
    c += d
    e += f
    g += h
    i += j
    k += l
    a += c
    e += g
    i += k
    a += e
    return (rounds * 12 * lanes, laneSum(a + i))
  }
}
