/// Makes a section ready: reads its options and weights, and says what it computes.
typealias DarknetOperation =
  @Sendable (SectionMaker, inout DarknetPlan) throws -> DarknetSection

/// Every kind of section that is interpreted.
enum DarknetOperations {
  static let byKind: [String: DarknetOperation] = {
    var all = convolutions
    for family in [products, poolings, combinations, reorderings, normalizations, recurrences] {
      all.merge(family) { first, _ in first }
    }
    return all
  }()
}
