import CoreMLModel
import Formulas
import ImportSupport

/// The matrix row for each index in the input.
enum Embed: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer(
    "Embed", becomes: "embedding", options: "`num_output`, `input_dim`, `bias_term`")

  static func inputAxes(_ layer: LayerCall, bottom index: Int, shape: [Int]) -> [Int]? {
    switch shape.count {
    case 1: [0]
    case 2: [0, 1]
    default: nil
    }
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
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
