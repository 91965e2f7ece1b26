import CoreMLModel
import Kernels
import TensorCore

extension LayerNormalization: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let length = try checkedProduct(normalizedShape, limit: Limits.tensorElements)
    let operation = try ArrayOperation(
      normalizing: shape, length: length, epsilon: eps,
      gamma: layer.values(gamma, normalizedShape, "gamma").array(),
      beta: layer.values(beta, normalizedShape, "beta").array())
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension ArrayOperation {
  /// γ · (x − μ) / √(σ² + ε) + β for each `length` adjacent elements.
  ///
  /// - Parameters:
  ///   - gamma: nil is 1 for all elements.
  ///   - beta: nil is 0 for all elements.
  init(normalizing shape: Shape, length: Int, epsilon: Float, gamma: [Float]?, beta: [Float]?)
    throws
  {
    let scale = try Constant(gamma ?? [Float](repeating: 1, count: length))
    let offset = try Constant(beta ?? [Float](repeating: 0, count: length))
    let stabilizer = Double(epsilon)
    self.init(kind: "layer normalization", units: shape.count / length) { buffers, row in
      let input = buffers.input + row * length
      let output = buffers.output + row * length
      let mean = Float(buffers.kernels.sum(.sum, input, length) / Double(length))
      for index in 0..<length { output[index] = input[index] - mean }
      let squares = buffers.kernels.sum(.sumOfSquares, UnsafePointer(output), length)
      let factor = Float(1 / (squares / Double(length) + stabilizer).squareRoot())
      let (gamma, beta) = (scale.pointer, offset.pointer)
      for index in 0..<length {
        output[index] = output[index] * factor * gamma[index] + beta[index]
      }
    }
  }
}
