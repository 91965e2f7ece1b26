extension ModelDefinition {
  /// One call of a layer.
  struct Place: Hashable {
    var layer: Int
    var call: Int
  }

  /// Whether some calls remove masks that others read, so that their order matters.
  func removesMasks(_ version: KerasVersion) -> Bool {
    version.removesMasks("MultiHeadAttention") && contains { $0.makesMask }
      && contains { version.removesMasks($0.className) || $0.type == nil && $0.nested == nil }
  }

  private func contains(_ condition: (Layer) -> Bool) -> Bool {
    layers.contains { condition($0) || $0.nested?.contains(condition) == true }
  }

  /// The calls that the outputs need, in the order in which Keras 3 runs them: those with the most
  /// calls after them first (`map_graph` in keras/src/ops/function.py).
  var executionOrder: [Place] {
    func parents(_ place: Place) -> [Place] {
      let calls = layers[place.layer].calls
      guard calls.indices.contains(place.call) else { return [] }
      return calls[place.call].inputs.map { Place(layer: $0.layer, call: $0.call) }
    }
    var found: [Place] = []
    var (open, done): (Set<Place>, Set<Place>) = ([], [])
    for output in outputs {
      var stack = [(place: Place(layer: output.layer, call: output.call), isReady: false)]
      while let (place, isReady) = stack.popLast() {
        if isReady {
          if done.insert(place).inserted { found.append(place) }
        } else if open.insert(place).inserted {
          stack.append((place, true))
          stack += parents(place).reversed().map { ($0, false) }
        }
      }
    }
    var depths: [Place: Int] = [:]
    var layerDepths: [Int: Int] = [:]
    var order: [Place] = []
    func deepen(_ place: Place, _ depth: Int) -> Int {
      if depths[place] == nil { order.append(place) }
      let deepest = max(depth, depths[place] ?? 0)
      depths[place] = deepest
      return deepest
    }
    for place in found.reversed() {
      let depth = deepen(place, layerDepths[place.layer] ?? 0)
      layerDepths[place.layer] = depth
      for parent in parents(place) { _ = deepen(parent, depth + 1) }
    }
    return order.enumerated().sorted {
      (-(depths[$0.element] ?? 0), $0.offset) < (-(depths[$1.element] ?? 0), $1.offset)
    }.map(\.element)
  }
}

extension ModelDefinition.Layer {
  fileprivate var makesMask: Bool {
    className == "Masking" || fields["mask_zero"]?.bool == true
  }
}
