import Formulas
import ImportSupport
import TensorCore

extension PythonMachine {
  /// Replaces a computation by a named tensor.
  func settled(_ expression: Expression) throws -> Expression {
    guard let tensors else { return expression }
    return try tensors.settled(expression, self)
  }

  /// The value to store in a variable: long computations become layers, once.
  func settled(_ symbol: PythonSymbol) throws -> PythonSymbol {
    guard tensors != nil, case .expression(let expression) = symbol, expression.count > 8,
      expression.number == nil
    else { return symbol }
    guard layers != nil, let before = tensors?.network else {
      return .expression(try settled(expression))
    }
    // Computations that only a loss needs may fail.
    do { return .expression(try settled(expression)) } catch {
      tensors?.network = before
      return symbol
    }
  }
}

extension PythonSymbol {
  /// Whether the symbol contains a tensor.
  var holdsTensor: Bool {
    switch self {
    case .expression: true
    case .tuple, .list: (elements ?? []).contains(where: \.holdsTensor)
    default: false
    }
  }

  /// Whether the symbol contains a known array.
  var holdsArray: Bool {
    switch self {
    case .array: true
    case .tuple, .list: (elements ?? []).contains(where: \.holdsArray)
    default: false
    }
  }
}

extension Expression {
  func with(operands: [Expression]) throws -> Expression {
    switch node {
    case .number, .name: self
    case .apply(let function, _): try .apply(function, operands)
    case .reduce(let reduction, _, let axes, let keepsAxes):
      try Expression(.reduce(reduction, operands[0], axes: axes, keepsAxes: keepsAxes))
    case .slice(_, let items): try Expression(.slice(operands[0], items))
    }
  }
}

extension PythonTensors {
  /// A known array as a tensor that is the same for every item of the batch.
  func constant(_ array: FormulaArray) throws -> KerasTensor {
    let sizes = Array(array.shape.dropFirst())
    let name = try name("constant")
    log.append("a constant \(sizes.map(String.init).joined(separator: "×"))")
    let rows = try checkedProduct(sizes.dropLast(), limit: Limits.dimension)
    let values = FloatValues(array.elements.map { Float($0) })
      .shaped([rows, sizes[sizes.count - 1]])
    let table = network.constantSequence(values, sizes.count > 2 ? name + "__table__" : name)
    guard sizes.count > 2 else { return network.settled(table, for: name) }
    return try network.reshaped(table, to: sizes, preferred: call.preferredImage, name: name, call)
  }

  /// The elements of nested lists and tuples.
  static func leaves(_ symbol: PythonSymbol) -> [PythonSymbol] {
    switch symbol {
    case .tuple(let elements): elements.flatMap(leaves)
    case .list(let list): list.elements.flatMap(leaves)
    // Keras sorts the keys.
    case .dictionary(let members):
      members.members.sorted { $0.key < $1.key }.flatMap { leaves($0.value) }
    default: [symbol]
    }
  }

  /// The mask that a computation produces.
  func mask(_ expression: Expression, _ machine: PythonMachine) throws -> StepMask {
    let settled = try settled(expression, machine)
    let tensor = try tensor(settled, machine)
    guard tensor.rank == 2, tensor.sizes == nil, let name = settled.names.first else {
      throw PythonMachine.unsupported("its mask is something else than one number per step")
    }
    return masks[name] ?? .given(tensor)
  }

  /// Throws if any tensor has a mask, which would be lost.
  func refuseMasks(of symbols: [PythonSymbol]) throws {
    for symbol in symbols.flatMap(Self.leaves) {
      guard case .name(let name)? = symbol.expression?.node, tensors[name]?.mask != nil else {
        continue
      }
      throw PythonMachine.unsupported("its input has a mask, which its layers would get")
    }
  }
}
