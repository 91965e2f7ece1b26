extension MILNamedType {
  package mutating func rename(_ names: [String: String]) { name = names[name] ?? name }
}

extension MILArgumentEntry {
  package var bindings: [MILBinding.Content?] { (value?.arguments ?? []).map(\.content) }

  /// The names of the argument's values.
  package var names: [String] {
    bindings.compactMap { if case .name(let name)? = $0 { name } else { nil } }
  }

  mutating func mapBindings(
    _ change: (MILBinding.Content) throws -> MILBinding.Content
  ) rethrows {
    for index in value?.arguments.indices ?? 0..<0 {
      guard let content = value?.arguments[index].content else { continue }
      value?.arguments[index].content = try change(content)
    }
  }

  /// Replaces the names of the values that the argument refers to.
  package mutating func rename(_ names: [String: String]) {
    mapBindings { if case .name(let old) = $0, let new = names[old] { .name(new) } else { $0 } }
  }
}
