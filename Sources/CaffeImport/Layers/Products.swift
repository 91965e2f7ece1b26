import CoreMLModel
import Formulas
import ImportSupport

extension CaffeLayerType {
  /// weights · x + bias, where x merges all axes from `axis` on
  static let innerProduct = single(
    SourceLayer(
      "InnerProduct", becomes: "flatten, innerProduct",
      options: "`num_output`, `bias_term`, `axis`, `transpose`")
  ) { layer, network in
    let input = layer.input
    let parameters = layer.parameters("inner_product_param")
    let axis = try parameters.axis(of: input)
    let outputs = try parameters.int("num_output", atLeast: 1)
    let count = try input.count(axis..<input.shape.count)
    let shape = Array(input.shape[..<axis]) + [outputs]

    let isTransposed = try parameters.bool("transpose")
    var matrix = try layer.weight(
      0, "weight", shape: isTransposed ? [count, outputs] : [outputs, count], fanIn: count)
    if isTransposed { matrix = matrix.transposed([1, 0]) }
    let bias =
      try parameters.bool("bias_term")
      ? Weights(try layer.weight(1, "bias", shape: [outputs])) : nil

    let vectors = try network.vectors(input, from: axis, layer)
    let product = network.matrixProduct(
      vectors.blob, Weights(matrix), inputs: count, outputs: outputs, bias: bias, layer.name,
      to: layer.tops[0])
    var result = vectors.with(product)
    result.shape[result.shape.count - 1] = outputs
    if result.shape == shape { return result }
    return try network.reshaped(result, to: shape, layer, name: layer.part("items"))
  }.withBatchAxis { layer, batch in
    let first = try layer.parameters("inner_product_param").axis(of: layer.input)
    return batch.axis < first ? batch.axis : nil
  }

  /// The matrix row for each index in the input.
  static let embed = single(
    SourceLayer(
      "Embed", becomes: "embedding", options: "`num_output`, `input_dim`, `bias_term`"),
    batchAxis: elements
  ) { layer, network in
    let input = layer.input
    let parameters = layer.parameters("embed_param")
    var embedding = Embedding()
    embedding.inputDim = try parameters.int("input_dim", atLeast: 1)
    embedding.outputChannels = try parameters.int("num_output", atLeast: 1)
    embedding.hasBias = try parameters.bool("bias_term")
    embedding.matrix = Weights(
      try layer.weight(
        0, "weight", shape: [embedding.inputDim, embedding.outputChannels]
      ).transposed([1, 0]))
    if embedding.hasBias {
      embedding.bias = Weights(try layer.weight(1, "bias", shape: [embedding.outputChannels]))
    }

    let shape = input.shape + [embedding.outputChannels]
    let indices: CaffeTensor
    if let items = network.items(input, before: input.shape.count, inner: [], for: layer.name) {
      indices = items
    } else {
      let one = try network.reshaped(
        input, to: [try input.count()], layer, name: layer.part("indices"))
      indices = network.placed(one, axes: [Placement.sequence], for: layer.name)
    }
    let rows = network.add(layer.name, embedding, [indices.blob], to: layer.tops[0])
    if indices.shape == input.shape, let axes = indices.axesWithChannel {
      return CaffeTensor(rows, shape, axes: axes)
    }
    let flat = CaffeTensor(
      rows, [try input.count(), embedding.outputChannels],
      axes: [Placement.sequence, Placement.channel])
    return try network.reshaped(flat, to: shape, layer, name: layer.part("items"))
  }.withInputAxes { _, _, shape in
    switch shape.count {
    case 1: [0]
    case 2: [0, 1]
    default: nil
    }
  }

  /// A weight as a blob
  static let parameter = CaffeLayerType(
    SourceLayer(
      "Parameter",
      becomes: "loadConstant; loadConstantND with more than three axes (specification 4)",
      options: "`shape`")
  ) { layer, network in
    try layer.requireBottoms(0...0)
    let shape = try layer.parameters("parameter_param").message("shape").ints("dim", atLeast: 1)
    try layer.require(
      shape.count <= 5, unsupported: "a constant with \(shape.count) axes is not supported",
      field: "parameter_param.shape")
    let values = try layer.weight(0, "parameter", shape: shape)
    var tensor = network.constant(values, layer.name, output: layer.tops[0])
    // Constants are tracked for SSD; parameters could be large.
    tensor.constant = nil
    return [tensor]
  }
}

extension CaffeWriter {
  /// The tensor with all axes from `axis` on merged into C. Axes before it are batch axes, which
  /// are merged if more than one is longer than 1.
  mutating func vectors(
    _ tensor: CaffeTensor, from axis: Int, _ layer: LayerCall
  ) throws -> CaffeTensor {
    var input = five(tensor, for: layer.name)
    let count = try input.count(axis..<input.shape.count)
    let leading = Array(input.shape[..<axis])
    let inner = input.shape.count - axis
    let positions =
      switch inner {
      case 1: [Placement.channel]
      case 2: [Placement.channel, Placement.height]
      case 3: [Placement.channel, Placement.height, Placement.width]
      default: [Int]()
      }
    let own = Array(input.axes[axis...])
    let isPlaced =
      own.allSatisfy { $0 >= Placement.channel } && zip(own, own.dropFirst()).allSatisfy { $0 < $1 }
      && input.axes[..<axis].allSatisfy { $0 < Placement.channel }
    if !isPlaced, positions.count == inner,
      let moved = items(input, before: axis, inner: positions, for: layer.name)
    {
      input = moved
    } else if !isPlaced {
      let rows = try input.count(0..<axis)
      input = try reshaped(input, to: [rows, count], layer, name: layer.part("rows"))
      return placed(input, axes: [input.axes[0], Placement.channel], for: layer.name)
    }
    var result = CaffeTensor(
      input.blob, leading + [count], axes: Array(input.axes[..<axis]) + [Placement.channel])
    // The layer could flatten by itself, but a separate layer makes it visible.
    result.blob = add(
      layer.part("preflatten"), Flatten(), [input.blob],
      to: "\(layer.bottoms.first ?? tensor.blob)_\(layer.index)_flattened")
    return result
  }
}

extension CaffeTensor {
  /// The axes with C appended; an axis of length 1 on C moves elsewhere.
  fileprivate var axesWithChannel: [Int]? {
    var result = axes
    if let index = result.firstIndex(of: Placement.channel) {
      guard shape[index] == 1, let free = [0, 1, 3, 4].first(where: { !result.contains($0) })
      else { return nil }
      result[index] = free
    }
    return result + [Placement.channel]
  }
}
