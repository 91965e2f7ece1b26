/// Pairs two sets of named arrays: first by equal names, then in order if equally many are left on
/// both sides.
package struct ArrayPairing: Sendable, Equatable {
  package struct Pair: Sendable, Equatable {
    /// Indices into the two lists.
    package let actual: Int
    package let expected: Int
  }

  /// In the order of the expected arrays.
  package let pairs: [Pair]
  /// Indices of the arrays without a partner.
  package let unpairedActual: [Int]
  package let unpairedExpected: [Int]

  /// An array without a name can only be paired by order.
  package init(actual: [String?], expected: [String?]) {
    var partners = [Int?](repeating: nil, count: expected.count)
    var taken = Set<Int>()
    for (position, name) in expected.enumerated() where name != nil {
      let match = actual.indices.first { actual[$0] == name && !taken.contains($0) }
      if let match {
        partners[position] = match
        taken.insert(match)
      }
    }
    let restActual = actual.indices.filter { !taken.contains($0) }
    let restExpected = expected.indices.filter { partners[$0] == nil }
    let pairsByOrder = restActual.count == restExpected.count
    if pairsByOrder { for (a, b) in zip(restActual, restExpected) { partners[b] = a } }
    pairs = partners.enumerated().compactMap { position, partner in
      partner.map { Pair(actual: $0, expected: position) }
    }
    unpairedActual = pairsByOrder ? [] : restActual
    unpairedExpected = pairsByOrder ? [] : restExpected
  }
}
