import CoreMLModel
import Kernels
import TensorCore

/// out[o] = weights[o, in] + bias[o], where the input is a whole number.
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
    if let compressed = table.compressed { return makeExpandingStep(compressed, context) }
    let bytes = try table.contiguous(context.kernels)
    let inputCount = inputCount
    let bias = bias
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      try bytes.withUnsafeBytes { matrix in
        guard let base = matrix.baseAddress else { return }
        for image in 0..<input.layout.shape.images {
          let column = try Self.index(source[image], inputCount)
          for channel in 0..<channels {
            let weight = base.loadUnaligned(
              fromByteOffset: (channel * inputCount + column) * 4, as: Float.self)
            target[image * channels + channel] = weight + (bias?[channel] ?? 0)
          }
        }
      }
    }
  }

  private static func index(_ value: Float, _ count: Int) throws -> Int {
    try require(
      value > -1 && value < Float(count) && Int(value) < count, .mismatch,
      "index \(value) is outside 0 to \(count - 1)")
    return Int(value)
  }

  /// Expands only the weights that are looked up.
  private func makeExpandingStep(_ weights: CompressedWeights, _ context: StepContext) -> StepBody {
    let input = context.inputs[0]
    let output = context.outputs[0]
    let channels = output.layout.shape.channels
    let inputCount = inputCount
    let bias = bias
    let kernels = context.kernels
    return { run in
      let source = run.pointer(input)
      let target = run.pointer(output)
      for image in 0..<input.layout.shape.images {
        let column = try Self.index(source[image], inputCount)
        for channel in 0..<channels {
          let element = channel * inputCount + column
          let place = target + image * channels + channel
          weights.expand(element..<element + 1, to: place, kernels)
          place.pointee += bias?[channel] ?? 0
        }
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
