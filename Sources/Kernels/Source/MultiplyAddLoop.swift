/// Multiply-adds of one round of `multiplyAddLoop`.
public var multiplyAddsPerRound: Int { 12 * Vector.scalarCount }

/// Multiply-adds that wait for nothing but their own predecessor in one of twelve chains, in
/// registers: as many as the processor can do at all.
///
/// - Returns: a number that depends on all of them.
@inline(never)
public func multiplyAddLoop(rounds: Int) -> Float {
  // Each chain tends to 1, so that no value becomes slow.
  let factor = splat(0.999)
  let term = splat(0.001)
  var sums = InlineArray<12, Vector>(repeating: .zero)
  for chain in 0..<12 { sums[chain] = splat(Float(chain) * 0.1) }
  for _ in 0..<rounds {
    for chain in 0..<12 { sums[chain] = multiplyAdd(sums[chain], factor, term) }
  }
  var total = sums[0]
  for chain in 1..<12 { total += sums[chain] }
  return laneSum(total)
}
