import KernelInterface

/// More chains than the fastest processors of the architecture need to hide the latency of a
/// multiply-add.
#if arch(arm64)
  private typealias Chains = InlineArray<24, Vector>
#else
  private typealias Chains = InlineArray<12, Vector>
#endif

extension Table {
  @inline(never)
  package static func multiplyAddLoop(rounds: Int, start: Float) -> (count: Int, sum: Float) {
    // Keeps values from becoming subnormal, which would be slow.
    let factor = splat(0.999)
    let term = splat(0.001)
    var chains = Chains(repeating: .zero)
    // The starts must be unknown to the compiler, which removes a chain that starts at 1 because
    // 0.999 · 1 + 0.001 is 1.
    for k in 0..<chains.count { chains[k] = splat(start + 0.1 * Float(k)) }
    for _ in 0..<rounds {
      for k in 0..<chains.count {
        #if arch(arm64)
          // The instruction adds to its destination.
          chains[k] = multiplyAdd(factor, term, chains[k])
        #else
          chains[k] = multiplyAdd(chains[k], factor, term)
        #endif
      }
    }
    var sum = Vector.zero
    for k in 0..<chains.count { sum += chains[k] }
    return (rounds * chains.count * lanes, laneSum(sum))
  }
}
