/// Unique names of layers or blobs.
///
/// A name that is taken gets `_`, then `__`, then `_3`, `_4`, …, in amortized constant time.
package struct NamePool: Sendable {
  private var taken: Set<String>
  /// How often each name has been changed.
  private var changes: [String: Int] = [:]

  package init(_ taken: some Sequence<String> = EmptyCollection()) { self.taken = Set(taken) }

  package func contains(_ name: String) -> Bool { taken.contains(name) }

  /// Frees the names.
  package mutating func remove(_ names: some Sequence<String>) {
    taken.subtract(names)
    changes = [:]
  }

  /// `name`, or a variant of it if it is taken.
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
