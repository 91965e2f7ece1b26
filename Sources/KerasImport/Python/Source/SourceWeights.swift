import TensorCore

/// Matches stored weights to the weights and layers that a layer's source creates.
struct SourceWeights {
  private(set) var stored: (weights: [Int: StoredWeight], layers: [Int: [StoredWeight]]) = (
    [:], [:]
  )
  private let call: LayerCall
  private let checksNames: Bool
  private var visited: Set<ObjectIdentifier> = []
  private var used: Set<String> = []

  init(_ object: PythonObject, _ call: LayerCall, isFrozen: Bool, checksNames: Bool = true) throws {
    (self.call, self.checksNames) = (call, checksNames)
    if call.weights.contains(where: { "/\($0.storedName)".contains("/vars/") }) {
      try addPaths(.object(object), "")
      // Optimizers and metrics also store values in the file.
      let unknown = object.names.filter { if case .library? = object[$0] { true } else { false } }
      let left = call.weights.filter { weight in
        !used.contains(weight.storedName)
          && !unknown.contains { weight.storedName.hasPrefix($0 + "/") }
      }
      try require(
        left.isEmpty, "its source has no weight '\(left.first?.storedName ?? "")' of the file")
    } else {
      try addInOrder(object, isFrozen: isFrozen || object.isFrozen)
    }
  }

  private func slots(_ object: PythonObject) throws -> [WeightSlot] {
    guard let className = object.layerClass, !["Sequential", "Lambda"].contains(className) else {
      return []
    }
    guard let type = KerasLayerRegistry.type(named: className) else {
      throw call.unsupported("layer class '\(className)' is not supported")
    }
    let layer = try type.configured(
      LayerConfiguration(
        name: call.name, className: className, fields: object.fields, version: call.version))
    return NodeConversion.known(layer).slots(object.fields, call.version) ?? layer.weights
  }

  /// Assigns a stored weight, whose shape must match.
  private mutating func bind(_ weight: PythonWeight, _ found: StoredWeight) throws {
    try require(
      found.shape == weight.shape,
      "weight '\(found.storedName)' has the shape \(KerasTensor.text(found.shape)), but the source "
        + "makes it \(KerasTensor.text(weight.shape))")
    stored.weights[weight.number] = found
    used.insert(found.storedName)
  }

  private mutating func bind(_ object: PythonObject, _ found: [StoredWeight]) throws {
    let slots = try slots(object)
    try require(
      slots.count == found.count,
      "the layer \(object.className) in it needs \(slots.count) weights, but the file has "
        + "\(found.count)")
    stored.layers[object.number] = zip(slots, found).map { slot, weight in
      var weight = weight
      weight.name = slot.name
      return weight
    }
    used.formUnion(found.map(\.storedName))
  }

  // MARK: By path, with the names that Keras 3's `_walk_saveable` gives

  private mutating func addPaths(_ symbol: PythonSymbol, _ path: String) throws {
    switch symbol {
    case .object(let object):
      guard visited.insert(ObjectIdentifier(object)).inserted else { return }
      let ordered = object.weights.filter(\.isTrainable) + object.weights.filter { !$0.isTrainable }
      for (index, weight) in ordered.enumerated() {
        let name = "\(path)vars/\(index)"
        guard let found = call.weights.first(where: { $0.storedName == name }) else {
          throw ModelError(.mismatch, "the file has no weight '\(name)' for its '\(weight.name)'")
        }
        try bind(weight, found)
      }
      if object.layerClass != nil, object.layerClass != "Sequential" {
        let inner = call.weights.filter { $0.storedName.hasPrefix(path) }
        let own = inner.filter { $0.storedName.hasPrefix(path + "vars/") }
        // A class of the source may have layers beside the weights of Keras's.
        let isWhole = try object.type == nil || own.count != slots(object).count
        try bind(object, isWhole ? inner : own)
        if isWhole { return }
      }
      // Keras 3 puts private names last; earlier versions use descending order for all names.
      let isKeras3 = call.version.isAtLeast(3, 0)
      let names = object.names.filter { !$0.hasPrefix("__") || !$0.hasSuffix("__") }.map { name in
        (name, path: name.hasPrefix("__") ? "_\(object.className)\(name)" : name)
      }
      var children = names.compactMap { name, path in object[name].map { (path, $0) } }
      if try object.type?.layerClass() == "Model" {
        let layers = sublayers(object).map { PythonSymbol.object($0) }
        children.append(("layers", .list(PythonList(layers))))
      }
      children.sort {
        isKeras3
          ? ($0.0.first == "_" ? "~" : "") + $0.0 < ($1.0.first == "_" ? "~" : "") + $1.0
          : $0.0 > $1.0
      }
      for (name, value) in children { try addPaths(value, path + name + "/") }
    case .list, .tuple, .dictionary:
      let parts: [PythonSymbol] =
        if case .dictionary(let members) = symbol { members.members.map(\.value) } else {
          symbol.elements ?? []
        }
      var counts: [String: Int] = [:]
      for part in parts {
        let kind: String
        switch part {
        case .object(let object):
          if !call.version.isAtLeast(3, 0), visited.contains(ObjectIdentifier(object)) { continue }
          kind = ObjectWeights.groupName(object.className)
        case .list, .tuple, .dictionary: kind = "container"
        default: continue
        }
        let number = counts[kind, default: 0]
        counts[kind] = number + 1
        try addPaths(part, path + (number == 0 ? kind : "\(kind)_\(number)") + "/")
      }
    default: break
    }
  }

  // MARK: In order, as in `.h5` files

  /// The objects that an object tracks: in Keras 3 in order of creation, in earlier versions by
  /// attribute.
  private func sublayers(_ object: PythonObject) -> [PythonObject] {
    var found: [PythonObject] = []
    func add(_ symbol: PythonSymbol) {
      switch symbol {
      case .object(let object):
        if !found.contains(where: { $0 === object }) { found.append(object) }
      case .list, .tuple: for element in symbol.elements ?? [] { add(element) }
      case .dictionary(let members):
        // Keras 2 visits dictionaries in the order of their keys.
        let all = members.members
        let isSorted = !call.version.isAtLeast(3, 0)
        for member in isSorted ? all.sorted(by: { $0.key < $1.key }) : all { add(member.value) }
      default: break
      }
    }
    for name in object.names { object[name].map(add) }
    return call.version.isAtLeast(3, 0) ? found.sorted { $0.number < $1.number } : found
  }

  private struct Entry {
    var object: PythonObject
    var weight: PythonWeight?
    var slot: Int
    var name: String
    var isTrainable: Bool
    /// The names that the source gives to the layer and those around it, and the weight's.
    var path: String?
  }

  private mutating func addInOrder(_ object: PythonObject, isFrozen: Bool) throws {
    var entries = try entries(object, isFrozen: isFrozen)
    if !isFrozen { entries = entries.filter(\.isTrainable) + entries.filter { !$0.isTrainable } }
    try require(
      entries.count == call.weights.count,
      "its source makes \(entries.count) weights, but the file has \(call.weights.count)")
    let named = named(entries)
    if named == nil { try checkOrder(entries, root: object) }
    var found: [Int: [(slot: Int, weight: StoredWeight)]] = [:]
    var layers: [Int: PythonObject] = [:]
    for (entry, weight) in zip(entries, named ?? call.weights) {
      let name = StoredWeight.shortName(weight.storedName, layer: call.name)
      let wanted = entry.name.split(separator: "/").last.map(String.init) ?? ""
      // Attention's `query_kernel` is stored as `query/kernel`.
      let path = weight.storedName.prefix { $0 != ":" }.replacing("/", with: "_")
      // A direction's `forward_kernel` is stored as `forward_lstm/lstm_cell/kernel`.
      let halves = wanted.split(separator: "_", maxSplits: 1)
      let isDirected =
        ["forward", "backward"].contains(halves.first) && path.contains("_\(halves[0])_")
        && path.hasSuffix("_" + (halves.last ?? ""))
      try require(
        !checksNames || wanted.isEmpty || name == wanted || name.hasPrefix(wanted + "_")
          || path.hasSuffix("_" + wanted) || isDirected,
        "the source makes the weight '\(entry.name)' where the file has '\(weight.storedName)'")
      if let own = entry.weight {
        try bind(own, weight)
      } else {
        layers[entry.object.number] = entry.object
        found[entry.object.number, default: []].append((entry.slot, weight))
      }
    }
    for (number, object) in layers {
      try bind(object, (found[number] ?? []).sorted { $0.slot < $1.slot }.map(\.weight))
    }
  }

  /// The weights of the file in the order of the entries, if names tell all of them apart: a version of
  /// a layer's source may make its layers in another order.
  private func named(_ entries: [Entry]) -> [StoredWeight]? {
    var places: [String: [Int]] = [:]
    for (index, weight) in call.weights.enumerated() {
      var parts = weight.storedName.prefix { $0 != ":" }.split(separator: "/").suffix(8)
      while !parts.isEmpty {
        places[parts.joined(separator: "/"), default: []].append(index)
        parts.removeFirst()
      }
    }
    let found = entries.compactMap { entry in entry.path.flatMap { places[$0] } }
    guard found.count == entries.count, found.allSatisfy({ $0.count == 1 }),
      Set(found.joined()).count == entries.count
    else { return nil }
    return found.joined().map { call.weights[$0] }
  }

  /// Where objects are not in the order in which they are made, the names of their weights tell them
  /// apart: names that Keras gave count the objects of a class.
  private func checkOrder(_ entries: [Entry], root: PythonObject) throws {
    let isMade = Set(entries.map(\.isTrainable)).allSatisfy { kind in
      let some = entries.filter { $0.isTrainable == kind }.map(\.object.number)
      return some == some.sorted()
    }
    guard !isMade else { return }
    var groups: [String: [(number: Int, counted: Int)]] = [:]
    for (entry, weight) in zip(entries, call.weights) where entry.object !== root {
      let parts = weight.storedName.split(separator: "/").dropLast().map(String.init)
      let kind = ObjectWeights.groupName(entry.object.className)
      if let name = entry.object["name"]?.string {
        try require(
          parts.contains(name), .unsupported, "the order of its layers' weights is not known")
        groups["/" + name, default: []].append((entry.object.number, 0))
      } else {
        let counted = parts.compactMap { part in
          part == kind ? 0 : part.hasPrefix(kind + "_") ? Int(part.dropFirst(kind.count + 1)) : nil
        }
        try require(
          counted.count == 1, .unsupported, "the order of its layers' weights is not known")
        groups[kind, default: []].append((entry.object.number, counted[0]))
      }
    }
    for (kind, members) in groups {
      let sorted = members.sorted { $0 < $1 }
      let isKnown = zip(sorted, sorted.dropFirst()).allSatisfy { first, second in
        kind.hasPrefix("/")
          ? first.number == second.number
          : (first.number == second.number) == (first.counted == second.counted)
            && first.counted <= second.counted
      }
      try require(isKnown, .unsupported, "the order of its layers' weights is not known")
    }
  }

  private mutating func entries(
    _ object: PythonObject, isFrozen: Bool, in outer: String = ""
  ) throws -> [Entry] {
    guard visited.insert(ObjectIdentifier(object)).inserted else { return [] }
    let isFrozen = isFrozen || object.isFrozen
    let ordered = object.weights.filter(\.isTrainable) + object.weights.filter { !$0.isTrainable }
    let own = ordered.map { ($0, 0, $0.name, $0.isTrainable) }
    let slots = try slots(object).enumerated().map { index, slot in
      (PythonWeight?.none, index, slot.name, slot.isTrainable)
    }
    let isRoot = visited.count == 1
    let path = isRoot ? call.name : object["name"]?.string.map { outer + $0 }
    let entries = (own + slots).map { weight, slot, name, isTrainable in
      Entry(
        object: object, weight: weight, slot: slot, name: name,
        isTrainable: isTrainable && !isFrozen, path: path.map { "\($0)/\(name)" })
    }
    return try sublayers(object).reduce(into: entries) {
      $0 += try self.entries(
        $1, isFrozen: isFrozen, in: isRoot ? "" : path.map { $0 + "/" } ?? "")
    }
  }
}
