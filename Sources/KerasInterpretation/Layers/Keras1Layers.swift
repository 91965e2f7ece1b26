import Interpretation
import LibC
import TensorCore

/// Layers that only Keras 1 has.
enum Keras1Layers {
  static let operations: [String: KerasOperations.Operation] = [
    "Highway": highway, "MaxoutDense": maxout, "SReLU": srelu,
    "ParametricSoftplus": { run in
      // α · log(1 + exp(β · x)), with one α and one β per element.
      let beta = try Merges.broadcast(run.input, constants(run, 1), *)
      let softplus = beta.map { max($0, 0) + log1p(exp(-abs($0))) }
      return Elements.same(run, try Merges.broadcast(softplus, constants(run, 0), *))
    },
  ]

  /// A weight with one value per element; shared axes have length 1.
  private static func constants(_ run: LayerRun, _ index: Int) throws -> DoubleArray {
    let weight = try run.weight(index)
    return try weight.reshaped([1] + weight.shape)
  }

  /// y · t + x · (1 − t) with y = f(x · W + b) and t = sigmoid(x · W_carry + b_carry); the weights
  /// are in the order W, W_carry, b, b_carry.
  private static func highway(_ run: LayerRun) throws -> [KerasValue] {
    func product(_ index: Int) throws -> DoubleArray {
      let result = try Products.product(run.input, run.weight(index, rank: 2))
      return run.weights.count > 2
        ? Elements.adding(result, try run.vector(2 + index, result.shape.last ?? 0)) : result
    }
    let carry = try product(1).map { 1 / (1 + exp(-$0)) }
    let made = try run.activated(product(0), "activation")
    let part = try Merges.broadcast(made, carry, *)
    return [
      KerasValue(
        array: try Merges.broadcast(part, Merges.broadcast(run.input, carry) { $0 * (1 - $1) }, +))
    ]
  }

  /// max over k of x · W[k] + b[k]
  private static func maxout(_ run: LayerRun) throws -> [KerasValue] {
    let kernels = try run.weight(0, rank: 3)
    let (inputs, outputs) = (kernels.shape[1], kernels.shape[2])
    var result: DoubleArray?
    for feature in 0..<kernels.shape[0] {
      var product = try Products.product(
        run.input, kernels.slice(0, feature..<feature + 1).reshaped([inputs, outputs]))
      if run.weights.count > 1 {
        let bias = try run.weight(1, rank: 2).slice(0, feature..<feature + 1)
        product = try Merges.broadcast(product, bias, +)
      }
      result = try result.map { try Merges.broadcast($0, product, max) } ?? product
    }
    return [KerasValue(array: try result ?? DoubleArray(shape: [run.input.shape[0], outputs]))]
  }

  /// t_right is stored relative to t_left; the slopes beyond the thresholds are a_left and a_right.
  private static func srelu(_ run: LayerRun) throws -> [KerasValue] {
    let (left, leftSlope) = try (constants(run, 0), constants(run, 1))
    let right = try Merges.broadcast(left, constants(run, 2)) { $0 + abs($1) }
    let rightSlope = try constants(run, 3)
    let below = try Merges.broadcast(
      Merges.broadcast(run.input, left) { min(0, $0 - $1) }, leftSlope, *)
    let above = try Merges.broadcast(
      Merges.broadcast(run.input, right) { max(0, $0 - $1) }, rightSlope, *)
    let middle = try Merges.broadcast(Merges.broadcast(run.input, left, max), right, min)
    return Elements.same(run, try Merges.broadcast(Merges.broadcast(middle, below, +), above, +))
  }
}
