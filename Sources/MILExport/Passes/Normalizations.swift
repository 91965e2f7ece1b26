import CoreMLModel
import TensorCore

/// Layer and instance normalization.
extension OperationGraph {
  /// Replaces gamma · (x − mean) / √(variance + epsilon) + beta, if MIL supports it for these axes.
  func recognizeNormalizations() throws {
    for name in names {
      guard let match = normalization(name) else { continue }
      var scale = Affine(last: name)
      affine(after: match, &scale)
      let x = try variable(match.x)
      let result = try variable(scale.last)
      let gamma = try scale.gamma.map { try constant($0, match.sizes, "gamma", scale.last) }
      let beta = try scale.beta.map { try constant($0, match.sizes, "beta", scale.last) }
      try replace(scale.last) {
        var arguments: [(String, Argument)] = [("x", .variable(x))]
        if !match.isInstance { arguments.append(("axes", .ints(match.axes))) }
        if let gamma { arguments.append(("gamma", .variable(try gamma()))) }
        if let beta { arguments.append(("beta", .variable(try beta()))) }
        return try builder.add(
          match.isInstance ? "instance_norm" : "layer_norm", scale.last,
          arguments + [("epsilon", .number(match.epsilon))], type: result.type, shape: result.shape)
      }
    }
  }

  private struct Match {
    var x: String
    var axes: [Int]
    var isInstance: Bool
    var epsilon: Float
    /// The shape of x, with 1 for each axis along which gamma and beta are the same.
    var shape: [Int]
    /// The shape of gamma and beta.
    var sizes: [Int]
  }

  /// The factor and the offset of a normalized value, and the name of the result.
  private struct Affine {
    var last: String
    var gamma: String?
    var beta: String?
  }

  /// The normalization that ends with this product or quotient.
  private func normalization(_ name: String) -> Match? {
    guard let product = operations[name], let a = product.name("x"), let b = product.name("y"),
      product.outputs.count == 1
    else { return nil }
    let orders = product.type == "mul" ? [(a, b), (b, a)] : [(a, b)]
    guard ["mul", "real_div"].contains(product.type) else { return nil }
    for (centered, factor) in orders {
      guard let difference = self[centered], difference.type == "sub",
        let x = difference.name("x"), let mean = difference.name("y"),
        let axes = meanAxes(mean, of: x), let shape = shape(x), shape == self.shape(name),
        let deviation = deviation(factor, isRoot: product.type == "real_div"),
        deviation.epsilon > 0, let squares = self[deviation.variance]?.name("x"),
        meanAxes(deviation.variance, of: squares) == axes, isSquare(squares, of: centered)
      else { continue }
      let inside = [mean, centered, squares, deviation.variance, factor] + deviation.sum
      guard
        inside.allSatisfy({ value in
          !isKept(value) && users(value).allSatisfy { $0 == name || inside.contains($0) }
        })
      else { continue }
      let rank = shape.count
      let isLast = axes == Array(rank - axes.count..<rank)
      let isInstance = (3...5).contains(rank) && axes == Array(2..<rank)
      guard isLast || rank == 4 && axes == [1] else { continue }
      let affine = isInstance ? [1] : axes
      return Match(
        x: x, axes: axes, isInstance: isInstance, epsilon: deviation.epsilon,
        shape: shape.indices.map { affine.contains($0) ? shape[$0] : 1 },
        sizes: affine.map { shape[$0] })
    }
    return nil
  }

  /// The axes of a mean that keeps its reduced axes.
  private func meanAxes(_ mean: String, of x: String) -> [Int]? {
    guard let operation = self[mean], operation.type == "reduce_mean", operation.name("x") == x,
      numbers(operation, "keep_dims") == [1]
    else { return nil }
    return axes(operation, "axes")?.sorted()
  }

  private func isSquare(_ value: String, of x: String) -> Bool {
    guard let operation = self[value], operation.name("x") == x else { return false }
    switch operation.type {
    case "square": return true
    case "mul": return operation.name("y") == x
    case "pow": return operation.name("y").flatMap { number($0) } == 2
    default: return false
    }
  }

  /// Matches 1 / √(variance + epsilon), or the root, and returns its operands.
  private func deviation(
    _ value: String, isRoot: Bool
  ) -> (variance: String, sum: [String], epsilon: Float)? {
    guard let operation = self[value], let x = operation.name("x") else { return nil }
    var epsilon: Float = 0
    switch (operation.type, isRoot) {
    case ("sqrt", true): break
    case ("rsqrt", false):
      guard let own = numbers(operation, "epsilon")?.first else { return nil }
      epsilon = own
    case ("pow", false):
      guard operation.name("y").flatMap({ number($0) }) == -0.5 else { return nil }
    default: return nil
    }
    guard let sum = self[x], let variance = sum.name("x") else { return nil }
    switch sum.type {
    case "add":
      guard let more = sum.name("y").flatMap({ number($0) }) else { return nil }
      return (variance, [x], epsilon + Float(more))
    case "linear_activation":
      guard numbers(sum, "alpha") == [1], let more = numbers(sum, "beta")?.first else { return nil }
      return (variance, [x], epsilon + more)
    default: return (x, [], epsilon)
    }
  }

  /// Matches the product with gamma and the sum with beta after a normalization, if the axes agree.
  private func affine(after match: Match, _ affine: inout Affine) {
    func next(_ type: String) -> (String, String)? {
      guard let user = users(affine.last).first, isOnly(user, of: affine.last),
        let operation = operations[user], operation.type == type, let x = operation.name("x"),
        let y = operation.name("y")
      else { return nil }
      let constant = x == affine.last ? y : x
      guard isConstant(constant), let shape = shape(constant), shape.count <= match.shape.count
      else { return nil }
      let full = [Int](repeating: 1, count: match.shape.count - shape.count) + shape
      return full == match.shape ? (user, constant) : nil
    }
    if let (user, gamma) = next("mul") { (affine.last, affine.gamma) = (user, gamma) }
    if let (user, beta) = next("add") { (affine.last, affine.beta) = (user, beta) }
  }

  /// A function that writes a constant with another shape.
  func constant(
    _ value: String, _ shape: [Int], _ argument: String, _ label: String
  ) throws -> () throws -> Variable {
    guard var constant = constant(value), let type = type(value) else {
      throw ModelError(.internal, "'\(value)' is not a constant")
    }
    constant.type = MILValueType(type, shape)
    return { [builder] in try builder.constant(constant, name: "\(label)_\(argument)") }
  }
}
