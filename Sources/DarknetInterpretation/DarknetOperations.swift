/// Prepares a section: reads its options and weights, and returns its computation.
typealias DarknetOperation =
  @Sendable (SectionMaker, inout DarknetPlan) throws -> DarknetSection

/// Every supported section.
enum DarknetOperations {
  static let byKind: [String: DarknetOperation] = {
    var all = convolutions
    for family in [products, poolings, combinations, reorderings, normalizations, recurrences] {
      all.merge(family) { first, _ in first }
    }
    return all
  }()
}
