import ImportSupport
import TensorCore

/// The layers included in a network state, and the blob versions that each reads and writes. A
/// layer with a top named like one of its bottoms works in place: it creates a new version of the
/// blob, which later layers read.
struct CaffeGraph {
  struct Node {
    var layer: LayerCall
    var role: LayerRole
    /// Indices in `versions`, one per bottom.
    var inputs: [Int] = []
    /// Indices in `versions`, one per top.
    var outputs: [Int] = []
    /// Whether an output of the network depends on the layer.
    var isNeeded = false
  }

  struct Version {
    var blob: String
    var producer: Int
    /// The number of layers that read it, plus one if it is an output.
    var readers = 0
    /// The types of the layers that read it.
    var readerTypes: [String] = []
    /// Whether a later layer produced a newer version.
    var isReplaced = false
  }

  private(set) var nodes: [Node] = []
  private(set) var versions: [Version] = []
  /// The versions that no layer reads, by blob name.
  private(set) var outputs: [Int] = []
  private(set) var notes: [String] = []

  /// - Throws: `ModelError` if a layer reads a missing blob, or writes a blob that another layer
  ///   wrote.
  init(_ network: CaffeMessage, state: NetworkState) throws {
    let state = state.completed(by: network)
    let field = network["layer"]
    let values = field?.values ?? []
    guard values.count <= Limits.layers else {
      throw ModelError(.limitExceeded, "\(values.count) layers; the limit is \(Limits.layers)")
    }
    var layers: [LayerCall] = []
    var others: [LayerCall] = []
    for (index, value) in values.enumerated() {
      guard let message = value.message else { continue }
      if state.includes(message) {
        layers += try Self.layers(message, index)
      } else {
        others += try Self.layers(message, index)
      }
    }
    let sources = Self.sources(others, missingIn: layers)
    notes += sources.map {
      "layer '\($0.name)' (\($0.type)) is not in this phase; its tops become inputs"
    }
    try connect(sources + layers)
    findOutputs()
    findNeeded()
  }

  /// The data layers of the other phase that provide blobs which layers of this phase lack.
  private static func sources(_ others: [LayerCall], missingIn layers: [LayerCall]) -> [LayerCall] {
    var given = Set(layers.flatMap(\.tops))
    let missing = Set(
      layers.filter { LayerRole($0) != .measuring }.flatMap(\.bottoms).filter {
        !given.contains($0)
      })
    return others.filter { layer in
      guard LayerRole(layer) == .input, !missing.isDisjoint(with: layer.tops),
        given.isDisjoint(with: layer.tops)
      else { return false }
      given.formUnion(layer.tops)
      return true
    }
  }

  private static func layers(_ message: CaffeMessage, _ index: Int) throws -> [LayerCall] {
    var layer = LayerCall(
      name: message.string("name") ?? "", type: message.string("type") ?? "",
      bottoms: message.strings("bottom"), tops: message.strings("top"), index: index,
      message: message, position: message.fields.compactMap(\.position).first)
    for name in [layer.name, layer.type] + layer.bottoms + layer.tops
    where name.utf8.count > Limits.nameBytes {
      throw layer.error("a name has \(name.utf8.count) bytes", code: .limitExceeded)
    }
    if layer.name.isEmpty { layer.name = "layer\(index)" }
    try layer.require(
      !layer.type.isEmpty, "it has no type", field: "type", hint: "such as type: \"Convolution\"")
    // The second top of the loss is a softmax of its bottom.
    if layer.type == "SoftmaxWithLoss", layer.tops.count == 2, let bottom = layer.bottoms.first {
      return [
        layer,
        LayerCall(
          name: layer.tops[1], type: "Softmax", bottoms: [bottom], tops: [layer.tops[1]],
          index: index, message: message, position: layer.position),
      ]
    }
    return [layer]
  }

  private mutating func connect(_ layers: [LayerCall]) throws {
    var newest: [String: Int] = [:]
    var problems: [ModelError] = []
    var makers: [String: LayerCall] = [:]
    for layer in layers { for top in layer.tops where makers[top] == nil { makers[top] = layer } }
    for layer in layers {
      var node = Node(layer: layer, role: LayerRole(layer))
      for bottom in layer.bottoms {
        if let version = newest[bottom] {
          node.inputs.append(version)
        } else if node.role == .measuring {
          continue
        } else {
          problems.append(Self.unknown(bottom, of: layer, maker: makers[bottom]))
          // Report each missing blob only once.
          newest[bottom] = add(bottom, by: nodes.count)
          node.inputs.append(newest[bottom] ?? 0)
        }
      }
      for top in layer.tops where !(node.role == .measuring && newest[top] != nil) {
        if let old = newest[top], makers[top]?.index != layer.index {
          guard layer.bottoms.contains(top) else {
            problems.append(
              layer.error(
                "its top '\(top)' is also the top of layer '\(makers[top]?.name ?? "?")'",
                field: "top", hint: "only a layer that reads a blob may overwrite it"))
            continue
          }
          versions[old].isReplaced = true
        }
        let version = add(top, by: nodes.count)
        newest[top] = version
        node.outputs.append(version)
      }
      nodes.append(node)
    }
    if let error = UnsupportedLayers.error(problems, "\(problems.count) blobs cannot be connected")
    {
      throw error
    }
  }

  private mutating func add(_ blob: String, by node: Int) -> Int {
    versions.append(Version(blob: blob, producer: node))
    return versions.count - 1
  }

  private static func unknown(
    _ bottom: String, of layer: LayerCall, maker: LayerCall?
  ) -> ModelError {
    guard let maker else {
      return layer.error(
        "no layer produces its bottom '\(bottom)'", field: "bottom",
        hint: "declare an input with input: \"\(bottom)\" and input_shape, or with an Input layer")
    }
    if maker.index == layer.index {
      return layer.error(
        "it reads its own top '\(bottom)', which no layer before it produces", field: "bottom")
    }
    return layer.error(
      "its bottom '\(bottom)' is produced after it, by layer '\(maker.name)'"
        + (maker.position.map { " (\($0))" } ?? ""), field: "bottom",
      hint: "list layers in the order in which they run; cycles are not supported")
  }

  // MARK: Outputs

  /// Counts the readers of each version. Measuring layers are ignored, so that their bottoms become
  /// outputs; if a computing layer reads their top, they pass on their first bottom.
  private mutating func findOutputs() {
    var isTaken = [Bool](repeating: false, count: versions.count)
    for node in nodes where node.role != .measuring {
      for input in node.inputs {
        versions[input].readers += 1
        versions[input].readerTypes.append(node.layer.type)
        isTaken[input] = true
      }
    }
    for node in nodes where node.role == .measuring {
      if node.outputs.contains(where: { isTaken[$0] }), let first = node.inputs.first {
        isTaken[first] = true
      }
    }
    let regions = regionVersions()
    for (index, version) in versions.enumerated()
    where regions.contains(index) || (!isTaken[index] && !version.isReplaced) {
      let producer = nodes[version.producer]
      if producer.role == .input || producer.role == .measuring { continue }
      outputs.append(index)
      versions[index].readers += 1
    }
    outputs.sort { versions[$0].blob < versions[$1].blob }
  }

  /// The regions that layers pool, which an app needs to locate the boxes derived from them.
  private func regionVersions() -> Set<Int> {
    let pooled = nodes.compactMap { node in
      CaffeLayerType.regionTypes.contains(node.layer.type) ? node.inputs.dropFirst().first : nil
    }
    return Set(
      pooled.map { version in
        var version = version
        while case let node = nodes[versions[version].producer], node.role == .passing,
          let first = node.inputs.first
        {
          version = first
        }
        return version
      })
  }

  private mutating func findNeeded() {
    var pending = outputs.map { versions[$0].producer }
    while let index = pending.popLast() {
      if nodes[index].isNeeded { continue }
      nodes[index].isNeeded = true
      pending += nodes[index].inputs.map { versions[$0].producer }
    }
  }

  /// The layer that produces the version, and the index of its top.
  func producer(of version: Int) -> (layer: LayerCall, top: Int) {
    let node = nodes[versions[version].producer]
    return (node.layer, node.outputs.firstIndex(of: version) ?? 0)
  }

  /// The needed layers that read the version, each with the index of its bottom.
  func readers(of version: Int) -> [(layer: LayerCall, bottom: Int)] {
    nodes.filter(\.isNeeded).flatMap { node in
      node.inputs.enumerated().filter { $0.element == version }.map { (node.layer, $0.offset) }
    }
  }
}
