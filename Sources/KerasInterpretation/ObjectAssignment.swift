import Interpretation
import KerasFormat
import TensorCore

/// Assigns stored arrays to layers in files of Keras 2.12 and later: keras/src/saving/saving_lib.py
/// names a layer's group after its class, numbered in the order of the layers.
struct ObjectAssignment {
  private(set) var arrays: [ObjectIdentifier: [DoubleArray]] = [:]

  init(_ root: HDF5Node, to model: KerasModel) throws { try assign(root, model) }

  private static let lists = [
    "layers", "_layer_checkpoint_dependencies", "_layers", "_self_tracked_trackables",
  ]

  private mutating func assign(_ object: HDF5Node, _ model: KerasModel) throws {
    guard let list = Self.lists.lazy.compactMap({ object.children[$0] }).first else { return }
    var counts: [String: Int] = [:]
    for layer in model.layers where !layer.isOperation {
      let group = Self.groupName(layer.className.split(separator: ">").last.map(String.init) ?? "")
      let number = counts[group, default: 0]
      counts[group] = number + 1
      guard let stored = list.children[number == 0 ? group : "\(group)_\(number)"] else { continue }
      if let nested = layer.nested {
        try assign(layer.isStepwise ? stored.children["layer"] ?? stored : stored, nested)
      } else {
        arrays[ObjectIdentifier(layer)] = try Self.arrays(stored)
      }
    }
  }

  /// The objects inside a layer, in the order in which Keras numbers their weights.
  private static let order = [
    "cell", "cells", "layer", "forward_layer", "backward_layer", "query_dense", "key_dense",
    "value_dense", "output_dense",
  ]

  /// The arrays of a layer, then those of the objects within it.
  private static func arrays(_ object: HDF5Node) throws -> [DoubleArray] {
    let own = (object["vars"]?.datasets ?? [:]).values.sorted {
      (Int($0.name) ?? .max, $0.name) < (Int($1.name) ?? .max, $1.name)
    }
    func rank(_ name: String) -> Int {
      order.firstIndex(of: name.hasPrefix("_") ? String(name.dropFirst()) : name) ?? order.count
    }
    let names = object.children.keys.filter { $0 != "vars" && !$0.hasPrefix("seed_generator") }
    return try own.map { try WeightAssignment.array($0.shape, $0.values()) }
      + names.sorted { (rank($0), $0) < (rank($1), $1) }.flatMap { name in
        try object.children[name].map(arrays) ?? []
      }
  }

  /// `to_snake_case` of keras/src/utils/naming.py.
  private static func groupName(_ className: String) -> String {
    // Keras exports this class under another name.
    if className == "GroupQueryAttention" { return "grouped_query_attention" }
    let letters = Array(className.unicodeScalars)
    func isUpper(_ index: Int) -> Bool { ("A"..."Z").contains(letters[index]) }
    func isLower(_ index: Int) -> Bool {
      letters.indices.contains(index) && ("a"..."z").contains(letters[index])
    }
    var result = String.UnicodeScalarView()
    for index in letters.indices {
      if index > 0, isUpper(index), isLower(index + 1) || isLower(index - 1) { result.append("_") }
      result.append(letters[index])
    }
    return String(result).lowercased()
  }
}
