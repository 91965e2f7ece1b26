import CoreMLModel
import Formulas
import ImportSupport

/// weights · x + bias, where x merges all axes from `axis` on
enum InnerProductLayer: SingleInputConverter {
  static let source = SourceLayer(
    "InnerProduct", becomes: "flatten, innerProduct",
    options: "`num_output`, `bias_term`, `axis`, `transpose`")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    let axis = try layer.parameters("inner_product_param").int("axis")
    let first = try layer.input.axis(axis, "inner_product_param.axis", of: layer)
    return batch.axis < first ? batch.axis : nil
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let parameters = layer.parameters("inner_product_param")
    let axis = try input.axis(parameters.int("axis"), "inner_product_param.axis", of: layer)
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
