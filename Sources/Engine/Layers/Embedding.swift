import CoreMLModel
import Kernels
import TensorCore

/// out[o] = weights[o, in] + bias[o], where the input is an integer.
struct EmbeddingOperation: NodeOperation {
  /// `[outputChannels, inputDim]`
  var table: StoredWeights
  var inputCount: Int
  var bias: [Float]?

  var kind: String { "embedding" }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let channels = output.layout.shape.channels
    let inputCount = inputCount
    // Of compressed weights, only those that are looked up are expanded.
    let copy: @Sendable (Int, UnsafeMutablePointer<Float>) -> Void
    switch table {
    case .compressed(let weights):
      let (bias, kernels) = (bias, context.kernels)
      copy = { column, target in
        for channel in 0..<channels {
          let element = channel * inputCount + column
          weights.expand(element..<element + 1, to: target + channel, kernels)
          target[channel] += bias?[channel] ?? 0
        }
      }
    case .floats(let values):
      let words = EmbeddingTable(try values.reshaped([channels, inputCount]), bias: bias)
      copy = { words.copy($0, to: $1) }
    }
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      for image in 0..<input.layout.shape.images {
        let value = source[image]
        try require(
          value > -1 && value < Float(inputCount) && Int(value) < inputCount, .mismatch,
          "index \(value) is outside 0 to \(inputCount - 1)")
        copy(Int(value), target + image * channels)
      }
    }
  }
}

extension Embedding: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let input = layer.inputShapes[0]
    let output = try layer.outputShape()
    try require(
      input.itemCount == 1 && output.itemCount == outputChannels && input.images == output.images,
      "shape \(input.dimensions); one index per item is needed", field: "input")
    let operation = EmbeddingOperation(
      table: try layer.stored(matrix, [outputChannels, inputDim], "weights"),
      inputCount: inputDim,
      bias: hasBias ? try layer.values(bias, [outputChannels], "bias").array() : nil)
    return [layer.add(operation, layer.inputs, output)]
  }
}

/// The columns of an embedding, read in place; in a Keras file, each is contiguous.
struct EmbeddingTable: Sendable {
  /// `[inputs, outputs]`
  private let words: FloatValues
  private let bias: [Float]?

  /// - Parameter values: `[outputs, inputs]`
  init(_ values: FloatValues, bias: [Float]?) {
    (words, self.bias) = (values.transposed([1, 0]), bias)
  }

  /// target[o] = weights[o, word] + bias[o]
  func copy(_ word: Int, to target: UnsafeMutablePointer<Float>) {
    let size = words.shape[1]
    words.copy(word * size..<(word + 1) * size, to: target)
    if let bias { for index in 0..<size { target[index] += bias[index] } }
  }
}
