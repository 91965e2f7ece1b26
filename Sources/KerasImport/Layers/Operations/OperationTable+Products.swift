import CoreMLModel
import ImportSupport
import TensorCore

extension OperationTable {
  /// Products of matrices.
  static let products: [Operation] = [
    Operation("matmul", "dot", "tensordot") { call, network in
      let input = network.settled(try call.input, for: call.name)
      guard case .constant(let json) = try call.operand(1, "b", "y", "x2") else {
        throw call.layer.unsupported("a product of two tensors that the network computes")
      }
      var (values, shape) = try call.numbers(json)
      guard shape.count == 2, try !call.bool(nil, "transpose_a", default: false) else {
        throw call.layer.unsupported("a product with a constant \(KerasTensor.text(shape))")
      }
      if try call.bool(nil, "transpose_b", default: false) {
        values = FloatValues(values).shaped(shape).transposed([1, 0]).array()
        shape.reverse()
      }
      guard input.channels == shape[0], input.rank <= 3 else {
        throw call.layer.unsupported(
          "a product of \(input.shapeText) and \(KerasTensor.text(shape))")
      }
      var output = input
      output.shape[input.rank - 1] = shape[1]
      output.blob = network.matrixProduct(
        input.blob, Weights(FloatValues(values).shaped(shape).transposed([1, 0])),
        inputs: shape[0], outputs: shape[1], call.name)
      return [output]
    }
  ]
}
