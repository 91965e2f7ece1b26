import CoreMLModel

/// A row of a table for each index.
struct EmbeddingLayer: KerasLayer {
  static let classNames = ["Embedding"]

  private let indices: Int
  private let size: Int

  init(_ configuration: LayerConfiguration) throws {
    indices = try configuration.int("input_dim")
    size = try configuration.int("output_dim")
    guard try !configuration.bool("mask_zero", default: false) else {
      throw configuration.unsupported(
        "mask_zero", "Core ML's layers cannot leave steps out",
        hint: "where every step counts, save the model with mask_zero=False")
    }
  }

  var weights: [WeightSlot] { [WeightSlot("embeddings")] }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = try call.input
    guard input.rank <= 2 else {
      throw call.unsupported("indices of the shape \(input.shapeText) are not supported")
    }
    let table = try call.weight("embeddings", [indices, size])
    var output = input
    if input.rank == 2 { output = network.relaid(input, to: .indices, for: call.name) }
    var embedding = Embedding()
    embedding.inputDim = indices
    embedding.outputChannels = size
    embedding.matrix = Weights(table.transposed([1, 0]))
    output.blob = network.add(call.name, embedding, [output.blob])
    output.shape = input.shape + [size]
    output.layout = input.rank == 2 ? .sequence : .vector
    return [output]
  }
}
