extension MILNamedType {
  package mutating func rename(_ names: [String: String]) { name = names[name] ?? name }
}

extension MILArgumentEntry {
  /// Replaces the names of the values that the argument refers to.
  package mutating func rename(_ names: [String: String]) {
    guard var argument = value else { return }
    for index in argument.arguments.indices {
      guard case .name(let old)? = argument.arguments[index].content, let new = names[old] else {
        continue
      }
      argument.arguments[index].content = .name(new)
    }
    value = argument
  }
}
