/// The data format of the layers that follow each node.
struct DataFormats {
  let preferred: [LayerConfiguration.DataFormat]

  init(_ graph: KerasGraph) {
    var own = graph.nodes.map { Self.format(of: $0.layer) }
    let first = own.compactMap { $0 }.first
    var downstream = [LayerConfiguration.DataFormat?](repeating: nil, count: own.count)
    for index in graph.nodes.indices.reversed() {
      let node = graph.nodes[index]
      let wanted = own[index] ?? (Self.changesAxes(node.layer) ? nil : downstream[index])
      for input in node.inputs where downstream[input.node] == nil {
        downstream[input.node] = wanted
      }
    }
    // A reshape takes the data format of the layers after it; other layers have their own.
    for index in own.indices where own[index] == nil { own[index] = downstream[index] }
    preferred = own.map { $0 ?? first ?? .channelsLast }
  }

  private static func changesAxes(_ layer: ModelDefinition.Layer) -> Bool {
    ["Flatten", "Dense", "Reshape", "Permute", "RepeatVector"].contains(layer.className)
  }

  private static func format(of layer: ModelDefinition.Layer) -> LayerConfiguration.DataFormat? {
    guard layer.className != "Flatten" else { return nil }
    switch (layer.fields["data_format"] ?? layer.fields["dim_ordering"])?.string {
    case "channels_first", "th": return .channelsFirst
    case "channels_last", "tf": return .channelsLast
    default: return nil
    }
  }
}
