import Formulas
import Kernels
import TensorCore

/// The result of a custom layer as a formula of its inputs.
package struct CustomLayerFormula: Sendable {
  package let expression: Expression
  /// The names of the inputs in the expression.
  package var inputs = ["x"]
  /// The arrays for the other names.
  package var weights: [String: FormulaArray] = [:]
}

/// A layer that can be replaced by operations on whole arrays.
package protocol CustomLayerWithFormula: CustomLayerImplementation {
  /// The formula for inputs of these shapes; nil if there is none. Called after `setWeights(_:)`.
  func formula(forInputShapes shapes: [[Int]]) throws -> CustomLayerFormula?
}

/// A normalization over groups of channels, which a formula cannot express without reshaping.
package protocol CustomLayerWithChannelGroups: CustomLayerWithFormula {
  /// Read after `setWeights(_:)`.
  var channelGroups: ChannelGroups { get }
}

/// gamma · (x − mean) / √(variance + epsilon) + beta, with mean and variance over groups of
/// channels and all positions.
package struct ChannelGroups: Sendable {
  /// The number of groups; −1 for one per channel.
  package let groups: Int
  package let epsilon: Float
  /// One per channel, or empty.
  package let gamma: [Float]
  package let beta: [Float]
}

extension CustomLayerWithEquivalent {
  package func formula(forInputShapes shapes: [[Int]]) throws -> CustomLayerFormula? {
    let x = Expression.name("x")
    switch equivalent {
    case .function(let function, let alpha, let beta, let scale, let shift):
      let z = try x.line(.number(Double(scale)), Double(shift))
      let isOne = alpha == [1]
      let a = alpha.count == 1 ? Expression.number(Double(alpha[0])) : .name("alpha")
      let expression: Expression
      switch function {
      case .linear: expression = try z.line(a, Double(beta))
      case .swish:
        expression =
          try isOne ? .apply(.swish, z) : .apply(.multiply, z, .apply(.sigmoid, z.line(a, 0)))
      case .hardSwish:
        expression = try .apply(
          .multiply, z, .apply(.clip, z.line(a, Double(beta)), .number(0), .number(1)))
      case .mish: expression = try .apply(.mish, z)
      case .gelu: expression = try .apply(.gelu, z)
      case .tanhGelu: expression = try .apply(.tanhGelu, z)
      default: return nil
      }
      let weights =
        alpha.count == 1 ? [:] : ["alpha": FormulaArray(perChannel: alpha, rank: shapes[0].count)]
      return CustomLayerFormula(expression: expression, weights: weights)
    case .crop(let border):
      let inner = Expression.SliceItem.range(start: border, end: -border, step: 1)
      return CustomLayerFormula(expression: try Expression(.slice(x, [.ellipsis, inner, inner])))
    case nil: return nil
    }
  }
}

extension Expression {
  /// factor · self + shift
  func line(_ factor: Expression, _ shift: Double) throws -> Expression {
    let product = factor.number == 1 ? self : try .apply(.multiply, factor, self)
    return shift == 0 ? product : try .apply(.add, product, .number(shift))
  }

  /// The reduction along axes, which keep one element.
  func reduced(_ reduction: Reduction, _ axes: [Int]) throws -> Expression {
    try Expression(.reduce(reduction, self, axes: axes, keepsAxes: true))
  }
}

extension FormulaArray {
  /// One value per channel, along the third axis from the end or the last of fewer than three.
  init(perChannel values: [Float], rank: Int) {
    self.init(rank < 3 ? [values.count] : [values.count, 1, 1], values.map { Double($0) })
  }
}
