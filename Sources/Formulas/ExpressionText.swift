extension Expression: CustomStringConvertible {
  /// The formula as text, with as few parentheses as possible.
  package var description: String { text(.lowest) }

  private enum Precedence: Int, Comparable {
    case lowest, comparison, sum, product, sign, power, atom
    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  }

  private static let symbols: [ElementFunction: (text: String, precedence: Precedence)] = [
    .add: ("+", .sum), .subtract: ("-", .sum), .multiply: ("*", .product),
    .divide: ("/", .product), .floorDivide: ("//", .product), .modulo: ("%", .product),
    .less: ("<", .comparison), .lessEqual: ("<=", .comparison), .greater: (">", .comparison),
    .greaterEqual: (">=", .comparison), .equal: ("==", .comparison),
    .notEqual: ("!=", .comparison),
  ]

  private func text(_ needed: Precedence) -> String {
    switch node {
    case .number(let value):
      return parenthesized(Self.text(value), value < 0 ? .sign : .atom, needed)
    case .name(let name): return name
    case .slice(let operand, let items):
      return operand.text(.atom) + "[" + items.map(Self.text).joined(separator: ", ") + "]"
    case .reduce(let reduction, let operand, let axes, let keepsAxes):
      var arguments = [operand.text(.lowest)]
      if let axes {
        let list = axes.map(String.init).joined(separator: ", ")
        arguments.append("axis=" + (axes.count == 1 ? list : "(\(list))"))
      }
      if keepsAxes { arguments.append("keepdims=True") }
      let isAmbiguous = reduction == .max || reduction == .min
      return (isAmbiguous ? "reduce_" : "") + reduction.rawValue + "("
        + arguments.joined(separator: ", ") + ")"
    case .apply(let function, let operands):
      if let symbol = Self.symbols[function] {
        // Operators are left-associative; comparisons do not chain.
        let left: Precedence = symbol.precedence == .comparison ? .sum : symbol.precedence
        let right = Precedence(rawValue: symbol.precedence.rawValue + 1) ?? .atom
        return parenthesized(
          "\(operands[0].text(left)) \(symbol.text) \(operands[1].text(right))",
          symbol.precedence, needed)
      }
      switch function {
      case .power:
        return parenthesized(
          operands[0].text(.atom) + " ** " + operands[1].text(.sign), .power, needed)
      case .tanhGelu: return "gelu(\(operands[0].text(.lowest)), approximate=True)"
      case .negative: return parenthesized("-" + operands[0].text(.sign), .sign, needed)
      default:
        return FunctionCatalog.name(of: function) + "("
          + operands.map { $0.text(.lowest) }.joined(separator: ", ") + ")"
      }
    }
  }

  private func parenthesized(_ text: String, _ own: Precedence, _ needed: Precedence) -> String {
    own < needed ? "(\(text))" : text
  }

  private static func text(_ value: Double) -> String {
    if value.isNaN { return "nan" }
    if value.isInfinite { return value < 0 ? "-inf" : "inf" }
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func text(_ item: SliceItem) -> String {
    switch item {
    case .index(let index): "\(index)"
    case .ellipsis: "..."
    case .newAxis: "None"
    case .range(let start, let end, let step):
      (start.map(String.init) ?? "") + ":" + (end.map(String.init) ?? "")
        + (step == 1 ? "" : ":\(step)")
    }
  }
}
