import CoreMLModel
import TensorCore

extension OperationGraph {
  /// Replaces products of two matrices as networks before version 4 must compute them: `[B, K, M,
  /// 1]` and `[B, K, 1, N]` are repeated to their common size, multiplied and summed.
  func recognizeProducts() throws {
    for name in names {
      guard let sum = self[name], sum.type == "reduce_sum", numbers(sum, "keep_dims") == [1],
        axes(sum, "axes") == [1], let terms = sum.name("x"), isOnly(name, of: terms),
        let product = self[terms], product.type == "mul", let result = shape(name),
        result.count == 4, let x = product.name("x"), let y = product.name("y")
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
          ], type: left.type, shape: [result[0]] + result[2...])
        return try builder.reshaped(product, to: result)
      }
    }
  }

  /// Lets products transpose a factor if a change of its shape is then all that remains of the moves
  /// before it. Returns whether any does.
  func transposeFactors() throws -> Bool {
    var isChanged = false
    for name in names {
      for factor in ["x", "y"] {
        guard let product = self[name], product.type == "matmul", let result = shape(name),
          let type = type(name), let value = product.name(factor), movesAxes(value)
        else { continue }
        let moves = moves(before: value)
        guard let source = operations[moves[moves.count - 1]]?.name("x"),
          let start = shape(source), !isConstant(source)
        else { continue }
        var chain = AxisChain(start)
        guard moves.reversed().allSatisfy({ follow($0, &chain) }),
          chain.steps.contains(where: { if case .transpose = $0 { true } else { false } })
        else { continue }
        let rank = chain.shape.count
        guard rank > 1 else { continue }
        chain.transpose(Array(0..<rank - 2) + [rank - 1, rank - 2])
        let steps = chain.steps
        guard steps.isEmpty || steps == [.reshape(chain.shape)] else { continue }
        let same = ([source] + users(source)).first {
          shape($0) == chain.shape && position($0) < position(name)
            && ($0 == source || movesAxes($0) && operations[$0]?.type != "transpose")
        }
        guard same != nil || isOnly(name, of: value) else { continue }
        try replace(name) {
          var arguments: [(String, Argument)] = []
          for key in ["x", "y"] {
            guard let own = product.name(key) else { continue }
            let isMoved = key == factor
            var x = try variable(isMoved ? same ?? source : own)
            if isMoved, same == nil { x = try builder.reshaped(x, to: chain.shape) }
            arguments += [
              (key, .variable(x)),
              ("transpose_\(key)", .flag((numbers(product, "transpose_\(key)") == [1]) != isMoved)),
            ]
          }
          return try builder.add("matmul", name, arguments, type: type, outputs: [(type, result)])[
            0]
        }
        isChanged = true
      }
    }
    return isChanged
  }

  /// The value before its repetition along the last two axes; nil if it is not repeated.
  private func repeated(_ value: String, by user: String) -> Variable? {
    guard let operation = self[value], operation.type == "upsample_nearest_neighbor",
      isOnly(user, of: value), let x = operation.name("x"), let variable = try? variable(x),
      variable.shape.count == 4
    else { return nil }
    return variable
  }
}
