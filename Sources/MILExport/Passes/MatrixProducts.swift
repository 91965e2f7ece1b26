import CoreMLModel
import TensorCore

extension OperationGraph {
  /// Replaces products of two matrices as networks before version 4 must compute them: `[B, K, M,
  /// 1]` and `[B, K, 1, N]` are repeated to their common size, multiplied and summed.
  func recognizeProducts() throws {
    for name in names {
      guard let sum = self[name], sum.type == "reduce_sum", numbers(sum, "keep_dims") == [1],
        axes(sum, "axes") == [1], let terms = sum.value("x"), isOnly(name, of: terms),
        let product = self[terms], product.type == "mul", let result = shape(name),
        result.count == 4, let x = product.value("x"), let y = product.value("y")
      else { continue }
      let factors = [x, y].compactMap { repeated($0, by: terms) }
      guard factors.count == 2,
        let left = factors.first(where: { $0.shape[3] == 1 && $0.shape[2] == result[2] }),
        let right = factors.last(where: { $0.shape[2] == 1 && $0.shape[3] == result[3] }),
        left.name != right.name, left.shape[..<2] == right.shape[..<2]
      else { continue }
      try replace(name) {
        let product = try builder.add(
          "matmul", name,
          [
            ("x", .variable(builder.reshaped(left, to: Array(left.shape[..<3])))),
            ("y", .variable(builder.reshaped(right, to: right.shape[..<2] + [result[3]]))),
            ("transpose_x", .flag(true)), ("transpose_y", .flag(false)),
          ], type: left.type, outputs: [(left.type, [result[0]] + result[2...])])[0]
        return try builder.reshaped(product, to: result)
      }
    }
  }

  /// The value before its repetition along the last two axes; nil if it is not repeated.
  private func repeated(_ value: String, by user: String) -> Variable? {
    guard let operation = self[value], operation.type == "upsample_nearest_neighbor",
      isOnly(user, of: value), let x = operation.value("x"), let variable = try? variable(x),
      variable.shape.count == 4
    else { return nil }
    return variable
  }
}
