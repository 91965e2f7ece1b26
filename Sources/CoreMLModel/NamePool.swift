/// Names of layers or of blobs, each given out once.
///
/// A name that is taken gets `_`, then `__`, then `_3`, `_4`, …; each call takes constant time on average.
package struct NamePool: Sendable {
  private var taken: Set<String>
  /// How often a name has been changed.
  private var changes: [String: Int] = [:]

  package init(_ taken: some Sequence<String> = EmptyCollection()) { self.taken = Set(taken) }

  package func contains(_ name: String) -> Bool { taken.contains(name) }

  /// The names are free again.
  package mutating func remove(_ names: some Sequence<String>) {
    taken.subtract(names)
    changes = [:]
  }

  /// `name`, or one made from it if it is taken.
  package mutating func take(_ name: String) -> String {
    if taken.insert(name).inserted { return name }
    while true {
      let count = changes[name, default: 0] + 1
      changes[name] = count
      let changed = name + (count < 3 ? String(repeating: "_", count: count) : "_\(count)")
      if taken.insert(changed).inserted { return changed }
    }
  }
}
