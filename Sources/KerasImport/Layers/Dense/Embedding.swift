import CoreMLModel
import ImportSupport

/// Looks up a row of a table for each index.
enum EmbeddingLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Embedding", becomes: "embedding, wrapped in reshapes for indices with more than one axis",
    options: "`mask_zero`: the mask is passed to the layers that use it")
  static let maskPolicy = MaskPolicy.decides

  /// Whether a layer looks up rows of a table.
  static func isLookup(_ layer: ModelDefinition.Layer) -> Bool {
    (classNames + TableEmbedding.classNames).contains(layer.className)
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let indices = try configuration.int("input_dim")
    let size = try configuration.int("output_dim")
    let masksZero = try configuration.bool("mask_zero", default: false)
    return conversion([WeightSlot("embeddings")]) { call, network in
      let input = try call.input
      let table = try call.weight("embeddings", [indices, size])
      var output = input
      if input.rank > 2 {
        // Reshapes all indices to one sequence.
        guard let count = input.itemCount, !input.isShapeAssumed else {
          throw call.unknownSize(of: input)
        }
        output = try network.reshaped(
          input, to: [count, 1], preferred: call.preferredImage, name: call.name + "__indices__",
          call)
        output.shape.removeLast()
        output.layout = .indices
      } else if input.rank == 2 {
        output = network.relaid(input, to: .indices, for: call.name)
      }
      var embedding = Embedding()
      embedding.inputDim = indices
      embedding.outputChannels = size
      embedding.matrix = Weights(table.transposed([1, 0]))
      output.blob = network.add(call.name, embedding, [output.blob])
      let mask = masksZero && (2...3).contains(input.rank) ? StepMask.nonzero(input) : nil
      if input.rank > 2 {
        output.shape.append(size)
        output.layout = .sequence
        output = try network.reshaped(
          output, to: input.shape.dropFirst().compactMap { $0 } + [size],
          preferred: call.preferredImage, name: call.name + "__reshape__", call)
        output.mask = mask
        return [output]
      }
      output.shape = input.shape + [size]
      output.layout = input.rank == 2 ? .sequence : .vector
      output.mask = mask
      return [output]
    }
  }
}
