import CoreMLModel
import Kernels
import TensorCore

extension LayerNormalization: EngineLayer {
  func lower(_ layer: inout LayerLowering) throws -> [Graph.ValueID] {
    let shape = try layer.outputShape()
    let length = try checkedProduct(normalizedShape, limit: Limits.tensorElements)
    let scale = try Constant(layer.values(gamma, normalizedShape, "gamma").array())
    let offset = try Constant(layer.values(beta, normalizedShape, "beta").array())
    let stabilizer = Double(eps)
    let operation = ArrayOperation(kind: "layer normalization", units: shape.count / length) {
      buffers, row in
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
    return [layer.add(operation, layer.inputs, shape)]
  }
}
