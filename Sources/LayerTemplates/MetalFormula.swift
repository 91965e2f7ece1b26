import Formulas

/// The computation of a Metal kernel per element: the class's expression, and the values of its
/// weights and parameters.
struct MetalFormula {
  let expression: Expression
  let inputs: [String]
  /// A Swift expression for each name that is not an input: a `BroadcastWeight`.
  let weights: [(name: String, value: String)]

  /// - Returns: nil if an element of the output is more than a function of elements at its position.
  init?(_ text: ClassText) {
    let layers = text.layerClass.layers
    guard layers.allSatisfy({ $0.outputShapes.count == 1 }) else { return nil }
    switch text.formula {
    case .none: return nil
    case .builtIn(let builtIn):
      guard let (formula, weights) = Self.builtIn[builtIn.name],
        layers.allSatisfy({ $0.inputShapes.count == 1 }),
        let expression = try? Expression(parsing: formula, names: Set(["x"] + weights.keys))
      else { return nil }
      self.expression = expression
      inputs = ["x"]
      self.weights = weights.sorted { $0.key < $1.key }.map {
        ($0.key, "BroadcastWeight(\($0.value))")
      }
    case .expressions(let all):
      guard all.count == 1, let formula = all.first, formula.expression.isElementwise,
        layers.allSatisfy({ formula.fits($0.inputShapes) })
      else { return nil }
      expression = formula.expression
      inputs = formula.inputs
      let arrays = formula.weights.enumerated().map { index, weight in
        (weight.name, "BroadcastWeight(self.weights[\(index)], shape: \(weight.shape))")
      }
      let numbers = text.numbers.filter { formula.expression.names.contains($0.key) }
        .sorted { $0.key < $1.key }.map { ($0.key, "BroadcastWeight([\($0.value)])") }
      weights = arrays + numbers
    }
  }

  /// Formulas of elementwise built-in classes, and the values of their names.
  private static let builtIn: [String: (String, [String: String])] = [
    "Swish": ("x / (1 + exp(-beta * x))", ["beta": "beta"]),
    "HardSwish": ("x * clip(x / 6 + 0.5, 0, 1)", [:]),
    "Mish": ("mish(x)", [:]),
    "GELU": (
      "where(approximate, x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))), gelu(x))",
      ["approximate": "[isApproximate ? 1 : 0]"]
    ),
    "Identity": ("x", [:]),
    "RescaleOutputLambda": ("(x + 1) * 127.5", [:]),
  ]
}

extension ClassExpression {
  /// Whether only rows, columns and weights are broadcast; a kernel reads one pixel's channels.
  fileprivate func fits(_ shapes: [[Int]?]) -> Bool {
    if shapes.count == 1, weights.allSatisfy({ $0.shape.reduce(1, *) == 1 }) { return true }
    let known = shapes.compactMap { $0 }
    guard known.count == shapes.count, let rank = known.map(\.count).max(), rank >= 3 else {
      return false
    }
    let output = (0..<rank).map { axis in
      known.map { $0.count == rank ? $0[axis] : 1 }.max() ?? 1
    }
    return known.allSatisfy { $0.count == rank && $0.dropLast(2) == output.dropLast(2) }
      && weights.allSatisfy { weight in
        weight.shape.dropLast(3).allSatisfy { $0 == 1 }
          && zip(weight.shape.reversed(), output.reversed()).allSatisfy { $0 == 1 || $0 == $1 }
      }
  }
}
