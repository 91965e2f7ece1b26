import ByteFormats
import CoreMLModel
import TensorCore

extension OperationTable {
  /// Matrix products.
  static let products: [Operation] = [
    Operation("matmul", "dot", "tensordot", "batchmatmul", "batchmatmulv2") { call, network in
      if case .tensor(let first) = try call.operand(0, "a", "x", "x1"),
        case .constant(let json) = try call.operand(1, "b", "y", "x2"),
        let result = try call.product(first, json, &network)
      {
        return [result]
      }
      let operands = [
        try call.operand(0, "a", "x", "x1"), try call.operand(1, "b", "y", "x2"),
      ]
      let tensors = operands.compactMap { operand -> KerasTensor? in
        if case .tensor(let tensor) = operand { tensor } else { nil }
      }
      let like = try tensors.max(by: { $0.rank < $1.rank }).orThrow(
        call.layer.unsupported("operations on constants are not supported"))
      var sides = try operands.enumerated().map { index, operand in
        try call.tensor(operand, like: like, &network, "__constant_\(index)__")
      }
      try call.layer.require(
        sides[0].rank == sides[1].rank && like.rank >= 3,
        unsupported:
          "a product of \(sides.map(\.shapeText).joined(separator: " and ")) is not supported")
      for (index, names) in [("transpose_a", "adj_x"), ("transpose_b", "adj_y")].enumerated()
      where try call.bool(nil, names.0, names.1, default: false) {
        sides[index] = network.transposed(sides[index])
      }
      let result = try network.matrixProduct(sides[0], sides[1], call.name, call.layer)
      return [network.settled(result, for: call.name)]
    },
    Operation("einsum") { try $0.einsum(&$1) },
  ]
}

extension OperationCall {
  /// x · matrix for a constant matrix; nil if the constant is not a suitable matrix.
  fileprivate func product(
    _ tensor: KerasTensor, _ json: JSONValue, _ network: inout KerasWriter
  ) throws -> KerasTensor? {
    var (values, shape) = try numbers(json)
    guard shape.count == 2, try !bool(nil, "transpose_a", "adj_x", default: false) else {
      return nil
    }
    if try bool(nil, "transpose_b", "adj_y", default: false) {
      values = try FloatValues(values).shaped(shape).transposed([1, 0]).array()
      shape.reverse()
    }
    let input = network.settled(tensor, for: name)
    try layer.require(
      input.channels == shape[0], "a product of \(input.shapeText) and \(KerasTensor.text(shape))")
    return network.channelProduct(
      input, Weights(FloatValues(values).shaped(shape).transposed([1, 0])), inputs: shape[0],
      outputs: shape[1], name)
  }

  /// The sum over the letters missing from the output, of one tensor or of a product of two.
  fileprivate func einsum(_ network: inout KerasWriter) throws -> [KerasTensor] {
    // Keras 3 stores the equation separately from the tensors.
    let stored = try constant(nil, "subscripts")
    let first = stored == nil ? 1 : 0
    guard let plan = try (stored ?? constant(0, "equation"))?.string.flatMap({ Einsum($0) }),
      !plan.text.contains(".")
    else { throw layer.unsupported("an equation without -> or with an ellipsis is not supported") }
    let (equation, terms, target) = (plan.text, plan.terms, plan.target)
    let tensors = try (0..<terms.count).map { index in
      guard let argument = argument(first + index) else {
        throw layer.unsupported(
          "the file does not state the tensors of equation '\(equation)'",
          hint: "tf.keras does not store them; use the layer EinsumDense or tf.matmul")
      }
      guard case .tensor(let tensor) = try operand(argument) else {
        throw layer.unsupported("a constant in equation '\(equation)' is not supported")
      }
      return tensor
    }
    func fits(_ term: [Character], _ tensor: KerasTensor) -> Bool {
      term.count == tensor.rank && Set(term).count == term.count && term.first == target.first
    }
    let known = Set(terms.joined())
    guard let batch = target.first, (1...2).contains(terms.count),
      zip(terms, tensors).allSatisfy(fits), Set(target).count == target.count,
      known.isSuperset(of: target)
    else { throw layer.unsupported("equation '\(equation)' is not supported") }
    var sizes: [Character: Int] = [:]
    for (term, tensor) in zip(terms, tensors) {
      for (letter, size) in zip(term, tensor.shape).dropFirst() {
        guard let size, !tensor.isShapeAssumed else {
          throw layer.unsupported("equation '\(equation)' does not support unknown sizes")
        }
        sizes[letter] = size
      }
    }
    // First sums over letters that only one operand has and the output lacks.
    var sides: [(letters: [Character], tensor: KerasTensor)] = []
    for (index, term) in terms.enumerated() {
      let others = Set(terms.enumerated().filter { $0.offset != index }.flatMap { $0.element })
      let summed = term.indices.filter {
        !target.contains(term[$0]) && !others.contains(term[$0])
      }
      var tensor = tensors[index]
      if !summed.isEmpty {
        tensor = try network.reduced(
          .sum, tensor, Set(summed), "\(name)__sum_\(index)__", layer
        ).without(Set(summed))
      }
      sides.append((term.filter { target.contains($0) || others.contains($0) }, tensor))
    }
    func arranged(_ side: (letters: [Character], tensor: KerasTensor), _ letters: [Character])
      throws -> KerasTensor
    {
      try transposed(
        side.tensor, letters.compactMap { side.letters.firstIndex(of: $0) }, into: &network)
    }
    if terms.count == 1 { return [try arranged(sides[0], target)] }
    let (a, b) = (sides[0], sides[1])
    let roles = Einsum.Roles(a.letters, b.letters, to: target)
    let shared = target.dropFirst().filter { roles.shared.contains($0) }
    let (rows, columns, summed) = (roles.rows, roles.columns, roles.summed)
    func count(_ letters: [Character]) throws -> Int {
      try checkedProduct(letters.map { sizes[$0] ?? 1 }, limit: Limits.dimension)
    }
    let outer = shared.isEmpty ? [] : [try count(shared)]
    func matrix(
      _ side: (letters: [Character], tensor: KerasTensor), _ first: [Character],
      _ last: [Character], _ suffix: String
    ) throws -> KerasTensor {
      let tensor = try arranged(side, [batch] + shared + first + last)
      if shared.count <= 1, first.count == 1, last.count == 1 { return tensor }
      return try network.reshaped(
        tensor, to: outer + [count(first), count(last)], name: name + suffix, layer)
    }
    var result = try network.matrixProduct(
      matrix(a, rows, summed, "__left__"), matrix(b, summed, columns, "__right__"),
      name + "__product__", layer)
    let made = shared + rows + columns
    if made.count != result.rank - 1 {
      result = try network.reshaped(
        network.settled(result, for: name + "_made"), to: made.map { sizes[$0] ?? 1 },
        name: name + "__split__", layer)
    }
    return [try arranged(([batch] + made, result), target)]
  }
}
