/// The classes that are interpreted, once each.
enum KerasOperations {
  typealias Operation = @Sendable (LayerRun) throws -> [KerasValue]

  static let byClass: [String: Operation] = {
    var table: [String: Operation] = [:]
    for family in [
      Products.operations, Elements.operations, Convolutions.operations, Poolings.operations,
      Shapes.operations, Merges.operations, Recurrences.operations, Wrappers.operations,
    ] {
      table.merge(family) { first, _ in first }
    }
    return table
  }()
}
