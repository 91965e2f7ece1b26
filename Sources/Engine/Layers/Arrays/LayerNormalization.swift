import CoreMLModel
import Kernels
import TensorCore

extension LayerNormalization: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let length = try checkedProduct(normalizedShape, limit: Limits.tensorElements)
    let operation = try NormalizationOperation(
      averaged: .adjacent(length), epsilon: eps,
      gamma: layer.values(gamma, normalizedShape, "gamma").array(),
      beta: layer.values(beta, normalizedShape, "beta").array())
    return [layer.add(operation, layer.inputs, try layer.outputShape())]
  }
}

/// γ · (x − μ) / √(σ² + ε) + β over adjacent elements or the channels of each pixel.
struct NormalizationOperation: NodeOperation {
  let averaged: ArrayOperation.Averaged
  let epsilon: Float
  /// Nil is 1 for all elements.
  let gamma: [Float]?
  /// Nil is 0 for all elements.
  let beta: [Float]?

  var kind: String { "layer normalization" }
  var canRunInPlace: Bool { true }

  func layoutWishes(_ shapes: NodeShapes) -> LayoutPreferences {
    averaged == .channels
      ? LayoutPreferences(inputs: [.blocked], outputs: [.blocked]) : shapes.allDense()
  }

  func makeStep(_ context: StepContext) throws -> StepBody {
    let layout = context.outputs[0].layout
    switch averaged {
    case .adjacent(let length):
      let (scale, bias) = try parameters(length, paddedTo: length)
      return try rows(layout.shape, length, scale, bias).makeStep(context)
    case .channels:
      let (scale, bias) = try parameters(
        layout.shape.channels, paddedTo: layout.channelBlocks * layout.block)
      let (kernels, epsilon) = (context.kernels, epsilon)
      return context.forEachRow {
        kernels.blockedNormalization(
          BlockedNormalization($0, epsilon: epsilon, scale: scale.pointer, bias: bias.pointer))
      }
    }
  }

  private func parameters(_ count: Int, paddedTo lanes: Int) throws -> (Constant, Constant) {
    (
      try Constant(gamma ?? [Float](repeating: 1, count: count), paddedTo: lanes),
      try Constant(beta ?? [Float](repeating: 0, count: count), paddedTo: lanes)
    )
  }

  private func rows(
    _ shape: Shape, _ length: Int, _ scale: Constant, _ bias: Constant
  ) -> ArrayOperation {
    let stabilizer = Double(epsilon)
    return ArrayOperation(kind: kind, units: shape.count / length) { buffers, row in
      let input = buffers.input + row * length
      let output = buffers.output + row * length
      let mean = Float(buffers.kernels.sum(.sum, input, length) / Double(length))
      for index in 0..<length { output[index] = input[index] - mean }
      let squares = buffers.kernels.sum(.sumOfSquares, UnsafePointer(output), length)
      let factor = Float(1 / (squares / Double(length) + stabilizer).squareRoot())
      let (gamma, beta) = (scale.pointer, bias.pointer)
      for index in 0..<length {
        output[index] = output[index] * factor * gamma[index] + beta[index]
      }
    }
  }
}
