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
      buffers.kernels.linear(input, to: output, length, factor: 1, offset: -mean)
      let squares = buffers.kernels.sum(.sumOfSquares, UnsafePointer(output), length)
      let factor = Float(1 / (squares / Double(length) + stabilizer).squareRoot())
      buffers.kernels.linear(output, to: output, length, factor: factor, offset: 0)
      buffers.kernels.apply(.multiply, scale.pointer, to: output, count: length)
      buffers.kernels.apply(.add, offset.pointer, to: output, count: length)
    }
    return [layer.add(operation, layer.inputs, shape)]
  }
}

extension KernelTable {
  /// `factor · x + offset`
  fileprivate static func linear(
    _ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, _ count: Int,
    factor: Float, offset: Float
  ) {
    unary(
      UnaryArguments(
        function: .linear, input: input, output: output, count: count, alpha: factor, beta: offset))
  }
}
