/// Unique names of layers, blobs or values.
///
/// A name that is taken gets `_`, then `__`, then `_3`, `_4`, …, in amortized constant time, unless other
/// suffixes are given.
package struct NamePool: Sendable {
  private var taken: Set<String>
  /// How often each name has been changed.
  private var changes: [String: Int] = [:]
  private let suffix: @Sendable (Int) -> String

  /// - Parameter suffix: what the first, second, … change of a name appends; it starts with `_`.
  package init(
    _ taken: some Sequence<String> = EmptyCollection(),
    suffix: @escaping @Sendable (Int) -> String = {
      $0 < 3 ? String(repeating: "_", count: $0) : "_\($0)"
    }
  ) {
    (self.taken, self.suffix) = (Set(taken), suffix)
  }

  package func contains(_ name: String) -> Bool { taken.contains(name) }

  package mutating func insert(_ names: some Sequence<String>) { taken.formUnion(names) }

  /// Frees the names.
  package mutating func remove(_ names: some Sequence<String>) {
    for name in names where taken.remove(name) != nil {
      // It may be a variant of any name before one of its underscores.
      for index in name.indices where name[index] == "_" { changes[String(name[..<index])] = nil }
    }
  }

  /// `name`, or a variant of it if it is taken.
  package mutating func take(_ name: String) -> String {
    if taken.insert(name).inserted { return name }
    while true {
      let count = changes[name, default: 0] + 1
      changes[name] = count
      let changed = name + suffix(count)
      if taken.insert(changed).inserted { return changed }
    }
  }
}
