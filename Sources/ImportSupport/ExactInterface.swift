import CoreMLModel

extension ImportedNetwork {
  /// Gives a network that computes on `[Seq, Batch, C, H, W]` an exact-rank interface with the
  /// source's axes and a batch of one. Layers at both ends add and remove axes of length 1. Images
  /// already have five axes.
  ///
  /// - Parameter images: the inputs that become images.
  package mutating func makeExact(images: Set<String>) {
    takesOwnAxes = true
    var names = NamePool(layers.map(\.name))
    var blobs = NamePool(layers.flatMap { $0.input + $0.output })
    var leading: [NeuralNetworkLayer] = []
    for index in inputs.indices where !images.contains(inputs[index].name) {
      let name = inputs[index].name
      guard let positions = inputs[index].positions, !positions.isEmpty else { continue }
      let expanded = blobs.take(name + "_expanded")
      blobLayouts[expanded] = blobLayouts.removeValue(forKey: name)
      for layer in layers.indices {
        layers[layer].input = layers[layer].input.map { $0 == name ? expanded : $0 }
      }
      let order = positions.indices.sorted { positions[$0] < positions[$1] }
      var source = name
      if order != Array(order.indices) {
        var transpose = Transpose()
        transpose.axes = order
        let ordered = blobs.take(name + "_ordered")
        leading.append(
          NeuralNetworkLayer(
            names.take(name + "_transpose"), transpose, input: [source], output: [ordered]))
        source = ordered
      }
      leading.append(
        Self.layer(names.take(name + "_expand"), Self.expansion(positions), source, expanded))
      inputs[index].useOwnAxes(batch: keepsBatch ? nil : 1)
    }
    layers.insert(contentsOf: leading, at: 0)
    for index in outputs.indices {
      let name = outputs[index].name
      guard let positions = outputs[index].positions,
        outputs[index].sourceShape.count == positions.count
      else { continue }
      let five = blobs.take(name + "_five")
      blobLayouts[five] = blobLayouts.removeValue(forKey: name)
      for layer in layers.indices {
        layers[layer].output = layers[layer].output.map { $0 == name ? five : $0 }
        layers[layer].input = layers[layer].input.map { $0 == name ? five : $0 }
      }
      let kept = positions.sorted()
      let order = positions.compactMap { kept.firstIndex(of: $0) }
      let isOrdered = order == Array(order.indices)
      let squeezed = isOrdered ? name : blobs.take(name + "_squeezed")
      layers.append(
        Self.layer(names.take(name + "_squeeze"), Self.squeezing(positions), five, squeezed))
      if !isOrdered {
        var transpose = Transpose()
        transpose.axes = order
        layers.append(
          NeuralNetworkLayer(
            names.take(name + "_transpose"), transpose, input: [squeezed], output: [name]))
        // What lies in another order than the axes' names say starts with the batch all the same.
        outputs[index].layout = String("NCHWD".prefix(positions.count))
      }
      outputs[index].useOwnAxes()
    }
  }

  private static func layer(
    _ name: String, _ parameters: any LayerParameters, _ input: String, _ output: String
  ) -> NeuralNetworkLayer {
    var layer = NeuralNetworkLayer()
    layer.name = name
    layer.parameters = parameters
    layer.input = [input]
    layer.output = [output]
    return layer
  }

  private static func unused(_ positions: [Int]) -> [Int] {
    (0..<5).filter { !positions.contains($0) }
  }

  private static func expansion(_ positions: [Int]) -> any LayerParameters {
    var expand = ExpandDims()
    expand.axes = unused(positions)
    return expand.axes.isEmpty ? Activation(.linear(alpha: 1, beta: 0)) : expand
  }

  private static func squeezing(_ positions: [Int]) -> any LayerParameters {
    var squeeze = Squeeze()
    squeeze.axes = unused(positions)
    return squeeze.axes.isEmpty ? Activation(.linear(alpha: 1, beta: 0)) : squeeze
  }
}

extension ImportedFeature {
  /// The places of the source's axes in `[Seq, Batch, C, H, W]`; nil if they are unknown.
  fileprivate var positions: [Int]? {
    let letters = Array("TNCHW")
    let positions = layout.map { letters.firstIndex(of: $0) }
    return positions.contains(nil) ? nil : positions.compactMap { $0 }
  }

  /// Declares the source's axes as the feature's shape.
  ///
  /// - Parameter batch: the batch size, if the layers do not use the source's.
  fileprivate mutating func useOwnAxes(batch: Int? = nil) {
    shape = zip(layout, sourceShape).map { $0 == "N" ? batch ?? $1 ?? 1 : $1 ?? 1 }
    if shape.isEmpty { shape = [1] }
    if !layout.isEmpty { layout = "\(layout):\(layout)" }
  }
}

extension ImportedNetwork {
  /// Removes constants and computed blobs that no layer or output reads.
  package mutating func removeUnread() {
    var read = Set(outputs.map(\.name))
    var unread: Set<Int> = []
    for (index, layer) in layers.enumerated().reversed() {
      if layer.output.contains(where: read.contains) {
        read.formUnion(layer.input)
      } else {
        unread.insert(index)
      }
    }
    if unread.isEmpty { return }
    layers = layers.indices.filter { !unread.contains($0) }.map { layers[$0] }
  }
}
