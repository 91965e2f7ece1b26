import TensorCore

/// A group of an HDF5 file.
package struct HDF5Group: Sendable {
  let node: GroupNode
  let contents: HDF5Contents

  /// The last component of `path`; empty for the root.
  package var name: String { node.name }
  /// Absolute path, starting with a slash.
  package var path: String { node.path }
  package var attributes: [String: HDF5Attribute] { node.attributes }

  /// Names of the groups inside, in the order of their UTF-8 bytes.
  package var groupNames: [String] { node.groups.map(\.name) }
  /// Names of the datasets inside, in the order of their UTF-8 bytes.
  package var datasetNames: [String] { node.datasets.map { contents.datasets[$0].name } }

  package var groups: [HDF5Group] { node.groups.map { HDF5Group(node: $0, contents: contents) } }
  package var datasets: [HDF5Dataset] {
    node.datasets.map { HDF5Dataset(index: $0, contents: contents) }
  }

  /// The object at a path relative to this group, or nil if it is missing or unreadable. Leading
  /// slashes are ignored.
  package subscript(path: String) -> HDF5Object? {
    guard case .found(let object) = look(up: path) else { return nil }
    return object
  }

  /// The group at a relative path. If there is none, the error says what is there instead or which
  /// names exist.
  package func group(_ path: String) throws -> HDF5Group {
    guard case .group(let group) = try object(path) else {
      throw contents.error(.malformed, "\(absolute(path)) is a dataset, not a group")
    }
    return group
  }

  /// The dataset at a relative path. If there is none, the error says what is there instead or
  /// which names exist.
  package func dataset(_ path: String) throws -> HDF5Dataset {
    guard case .dataset(let dataset) = try object(path) else {
      throw contents.error(.malformed, "\(absolute(path)) is a group, not a dataset")
    }
    return dataset
  }

  /// A list of strings from the attribute `name`, or from `name0`, `name1`, … if the writer had to
  /// split it because HDF5 limits an attribute to 64 kB; nil if there is neither.
  package func attributeStrings(_ name: String) -> [String]? {
    if let attribute = attributes[name] { return attribute.strings }
    guard var joined = attributes["\(name)0"]?.strings else { return nil }
    var chunk = 1
    while let more = attributes["\(name)\(chunk)"]?.strings {
      joined += more
      chunk += 1
    }
    return joined
  }

  /// Every dataset in this group and its subgroups, depth first, each group's datasets before its
  /// subgroups.
  package var allDatasets: [HDF5Dataset] { datasets + groups.flatMap(\.allDatasets) }

  private enum Lookup {
    case found(HDF5Object)
    case refused(ModelError)
    case absent(missing: String, in: HDF5Group)
  }

  private func object(_ path: String) throws -> HDF5Object {
    switch look(up: path) {
    case .found(let object): return object
    case .refused(let error): throw error.inFile(contents.input.path)
    case .absent(let missing, let group):
      throw contents.error(
        .malformed, "there is no '\(missing)' in the group '\(group.path)'",
        hint: group.listing)
    }
  }

  private func look(up path: String) -> Lookup {
    var group = self
    let names = path.split(separator: "/").map(String.init)
    for (depth, name) in names.enumerated() {
      if let child = group.node.group(named: name) {
        group = HDF5Group(node: child, contents: contents)
        continue
      }
      if let refusal = group.node.refused[name] { return .refused(refusal) }
      guard depth == names.count - 1,
        let index = group.node.datasets.first(where: { contents.datasets[$0].name == name })
      else { return .absent(missing: name, in: group) }
      return .found(.dataset(HDF5Dataset(index: index, contents: contents)))
    }
    return .found(.group(group))
  }

  private func absolute(_ path: String) -> String {
    (node.path == "/" ? "" : node.path) + "/" + path
  }

  private var listing: String {
    let names = groupNames + datasetNames + node.refused.keys.sorted()
    if names.isEmpty { return "that group is empty" }
    return "it contains " + names.prefix(12).joined(separator: ", ")
      + (names.count > 12 ? " and \(names.count - 12) more" : "")
  }
}
