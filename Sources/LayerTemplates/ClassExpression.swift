import Formulas

/// A formula that layers of a class compute, from their parameter `expression`.
struct ClassExpression: Equatable {
  let expression: Expression
  let inputs: [String]
  let weights: [Weight]
  /// The parameters that distinguish it from the class's other formulas.
  let selection: [String: String]

  struct Weight: Equatable {
    let name: String
    let shape: [Int]
  }

  /// The formulas of the class; nil if any layer lacks one.
  static func all(of layerClass: LayerClass) -> [ClassExpression]? {
    var found: [ClassExpression] = []
    for layer in layerClass.layers {
      guard let one = ClassExpression(layer, of: layerClass),
        one.inputs.count == layer.inputShapes.count
      else { return nil }
      if !found.contains(one) { found.append(one) }
    }
    return found.isEmpty ? nil : found
  }

  private init?(_ layer: LayerClass.Layer, of layerClass: LayerClass) {
    func text(_ key: String) -> String? {
      if case .string(let text)?? = layer.custom.parameters[key] { text } else { nil }
    }
    guard let formula = text("expression") else { return nil }
    let list = text("inputs") ?? "x"
    inputs = list.split(separator: ",").map(String.init)
    var weights: [Weight] = []
    for part in (text("weights") ?? "").split(separator: "]") {
      let halves = part.drop { $0 == "," }.split(separator: "[", omittingEmptySubsequences: false)
      guard halves.count == 2 else { return nil }
      let sizes = halves[1].split(separator: ",")
      let shape = sizes.compactMap { Int($0) }
      guard shape.count == sizes.count, shape.allSatisfy({ $0 > 0 }) else { return nil }
      weights.append(Weight(name: String(halves[0]), shape: shape))
    }
    self.weights = weights
    let numbers = layerClass.parameters.filter { $0.kind != .string }.map(\.key)
    let names = Set(inputs + weights.map(\.name) + numbers)
    guard weights.count == layer.custom.blobs.count,
      let expression = try? Expression(parsing: formula, names: names)
    else { return nil }
    self.expression = expression
    selection = ["expression": formula, "inputs": list, "weights": text("weights") ?? ""]
  }
}

// MARK: - Swift

extension ClassExpression {
  /// Swift statements, the last of which returns the value.
  ///
  /// - Parameter properties: the class's properties, by parameter key.
  func statements(_ properties: [String: String]) -> [String] {
    var lines: [String] = []
    var variables: [Expression: String] = [:]
    func emit(_ expression: Expression) -> String {
      if let variable = variables[expression] { return variable }
      var value: String
      switch expression.node {
      case .number(let number): value = "FormulaArray(\(Self.text(number)))"
      case .name(let name):
        if let index = inputs.firstIndex(of: name) {
          value = "inputs[\(index)]"
        } else if let index = weights.firstIndex(where: { $0.name == name }) {
          value = "try FormulaArray(\(weights[index].shape), weight: self.weights[\(index)])"
        } else {
          value = "FormulaArray(\(properties[name] ?? "0"))"
        }
      case .apply(let function, let operands):
        value =
          "try FormulaArray.\(function.rawValue)("
          + operands.map(emit).joined(separator: ", ") + ")"
      case .reduce(let reduction, let operand, let axes, let keepsAxes):
        value =
          "try \(emit(operand)).reduced(.\(reduction), "
          + "\(axes.map { "\($0)" } ?? "nil"), keepsAxes: \(keepsAxes))"
      case .slice(let operand, let items):
        value = "try \(emit(operand)).part([\(items.map(Self.text).joined(separator: ", "))])"
      }
      let variable = "v\(variables.count)"
      lines.append("let \(variable) = \(value)")
      variables[expression] = variable
      return variable
    }
    let result = emit(expression)
    return lines + ["return \(result)"]
  }

  private static func text(_ number: Double) -> String {
    let number = Float(number)
    return number.isNaN
      ? ".nan" : number.isInfinite ? (number < 0 ? "-.infinity" : ".infinity") : "\(number)"
  }

  private static func text(_ item: Expression.SliceItem) -> String {
    switch item {
    case .index(let index): ".index(\(index))"
    case .range(let start, let end, let step):
      ".range(\(start.map(String.init) ?? "nil"), \(end.map(String.init) ?? "nil"), \(step))"
    case .ellipsis: ".ellipsis"
    case .newAxis: ".newAxis"
    }
  }
}
