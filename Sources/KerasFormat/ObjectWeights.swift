import HDF5Reader

/// Weights in the format of Keras 2.12 and later, `.weights.h5`: a group per object, named after
/// its attribute or, in a list, after its class, containing `vars/0`, `vars/1`, ….
///
/// Source: `_save_state` and `_save_container_state` of keras/src/saving/saving_lib.py.
package struct ObjectWeights: KerasWeights {
  package let root: HDF5Node

  package init?(_ root: HDF5Group) {
    let node = HDF5Node(root)
    guard node.layerLists.isEmpty == false || node["vars"] != nil else { return nil }
    self.root = node
  }

  /// `SeparableConv2D` is `separable_conv2d`, `PReLU` is `p_re_lu`.
  package static func groupName(_ className: String) -> String {
    let className = className.split(separator: ">", omittingEmptySubsequences: false).last ?? ""
    // Registered under another name than the class's.
    if className == "GroupQueryAttention" { return "grouped_query_attention" }
    let scalars = Array(
      className.unicodeScalars.filter { $0.properties.isAlphabetic || $0 == "_" || isDigit($0) })
    var result = ""
    for (index, scalar) in scalars.enumerated() {
      if index > 0, isUpper(scalar) {
        let startsWord = index + 1 < scalars.count && isLower(scalars[index + 1])
        if startsWord || isLower(scalars[index - 1]) { result += "_" }
      }
      result.unicodeScalars.append(scalar)
    }
    return result.lowercased()
  }

  private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }
  private static func isLower(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }
  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}

/// A group whose members may be written with backslashes instead of slashes, as on Windows.
package struct HDF5Node {
  package let path: String
  package private(set) var datasets: [String: HDF5Dataset] = [:]
  package private(set) var children: [String: HDF5Node] = [:]

  package init(_ group: HDF5Group) {
    path = group.path
    for dataset in group.datasets { datasets[dataset.name] = dataset }
    for child in group.groups {
      let names = child.name.split(separator: "\\").map(String.init)
      guard let name = names.first else { continue }
      insert(HDF5Node(child), names.dropFirst(), as: name)
    }
  }

  private init(path: String) { self.path = path }

  private mutating func insert(_ node: HDF5Node, _ rest: ArraySlice<String>, as name: String) {
    guard let next = rest.first else {
      var merged = node
      for (name, child) in children[name]?.children ?? [:] where merged.children[name] == nil {
        merged.children[name] = child
      }
      children[name] = merged
      return
    }
    var child = children[name] ?? HDF5Node(path: path + "/" + name)
    child.insert(node, rest.dropFirst(), as: next)
    children[name] = child
  }

  package subscript(name: String) -> HDF5Node? { children[name] }

  package var hasDatasets: Bool {
    !datasets.isEmpty || children.values.contains(where: \.hasDatasets)
  }

  /// The groups in which the versions of Keras store a model's layers.
  package var layerLists: [HDF5Node] {
    ["layers", "_layer_checkpoint_dependencies", "_layers", "_self_tracked_trackables"]
      .compactMap { children[$0] }
  }

  /// `name`, `name_1`, `name_2`, … in this order, as long as they exist.
  package func numbered(_ name: String) -> [(number: Int, node: HDF5Node)] {
    children.compactMap { key, node -> (number: Int, node: HDF5Node)? in
      if key == name { return (0, node) }
      guard key.hasPrefix(name + "_"), let number = Int(key.dropFirst(name.utf8.count + 1)),
        number > 0
      else { return nil }
      return (number, node)
    }.sorted { $0.number < $1.number }
  }
}
