import PluginSupport

/// The embedded source files of layer classes.
enum LayerFiles {
  /// The Swift files, by name without `.swift`.
  static let texts = all(".swift")
  /// The Metal files, by name without `.metal`, which is the kernel's name.
  static let kernels = all(".metal")

  private static func all(_ ending: String) -> [String: String] {
    guard let files = plugin_layer_files() else { return [:] }
    var result: [String: String] = [:]
    for file in UnsafeBufferPointer(start: files, count: plugin_layer_count()) {
      let bytes = UnsafeBufferPointer(start: file.bytes, count: file.byte_count)
      let name = String(cString: file.path)
      guard name.hasSuffix(ending) else { continue }
      result[String(name.dropLast(ending.count))] = String(decoding: bytes, as: UTF8.self)
    }
    return result
  }

  /// The text between a layer class's name and its first member.
  static let declaration = ": NSObject, MLCustomLayer {\n"

  /// The files that `classes` use, directly or indirectly.
  static func used(by classes: [String]) -> [PluginPackage.File] {
    let others = texts.filter { !$0.value.contains(declaration) }
    var names: Set<String> = []
    var open = classes
    while let text = open.popLast() {
      for (name, other) in others where !names.contains(name) {
        guard declared(by: name).contains(where: { text.contains($0) }) else { continue }
        names.insert(name)
        open.append(other)
      }
    }
    return names.sorted().map {
      PluginPackage.File(path: $0 + ".swift", bytes: Array((texts[$0] ?? "").utf8))
    }
  }

  private static func declared(by name: String) -> [String] {
    switch name {
    case "BilinearSample": ["bilinearSample"]
    case "LayerSupport": ["LayerFault", "LayerParameters", "LayerShapes", "LayerWeights"]
    case "PlaneShape": ["PlaneShape", "AxisShape"]
    default: [name]
    }
  }
}
