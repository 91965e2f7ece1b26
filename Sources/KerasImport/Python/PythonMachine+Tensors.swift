import Formulas
import TensorCore

extension PythonMachine {
  /// A calculation as a tensor that has a name.
  func settled(_ expression: Expression) throws -> Expression {
    guard let tensors else { return expression }
    return try tensors.settled(expression, self)
  }

  /// What a variable holds: long calculations become layers once.
  func settled(_ symbol: PythonSymbol) throws -> PythonSymbol {
    guard tensors != nil, case .expression(let expression) = symbol, expression.count > 8,
      expression.number == nil
    else { return symbol }
    guard layers != nil, let before = tensors?.network else {
      return .expression(try settled(expression))
    }
    // What only a loss needs may be left unknown.
    do { return .expression(try settled(expression)) } catch {
      tensors?.network = before
      return symbol
    }
  }
}

extension PythonSymbol {
  /// Whether a tensor is in it.
  var holdsTensor: Bool {
    switch self {
    case .expression: true
    case .tuple, .list: (elements ?? []).contains(where: \.holdsTensor)
    default: false
    }
  }
}
