import Formulas

/// A formula that layers of a class compute: their parameter `expression`, or what the class stands for.
struct ClassExpression: Equatable {
  let expression: Expression
  let inputs: [String]
  let weights: [Weight]
  /// The parameters that tell it from other formulas of the class, none where it is the only one.
  let selection: [String: String]

  struct Weight: Equatable {
    let name: String
    let shape: [Int]
  }

  /// The formulas of the class; nil where a layer has none.
  static func all(of layerClass: LayerClass) -> [ClassExpression]? {
    var found: [ClassExpression] = []
    for layer in layerClass.layers {
      guard let one = ClassExpression(layer, of: layerClass),
        one.inputs.count == layer.inputShapes.count
      else { return nil }
      if !found.contains(one) { found.append(one) }
    }
    return found.isEmpty || found.count > 1 && found.contains { $0.selection.isEmpty } ? nil : found
  }

  private init?(_ layer: LayerClass.Layer, of layerClass: LayerClass) {
    func text(_ key: String) -> String? {
      if case .string(let text)?? = layer.custom.parameters[key] { text } else { nil }
    }
    guard let formula = text("expression") else {
      let own = Self.formula(of: layer).map { ($0, [Weight]()) } ?? Self.l2Normalization(layer)
      guard let (text, weights) = own, layer.custom.blobs.count == weights.count,
        let expression = try? Expression(parsing: text, names: ["x", "gamma"])
      else { return nil }
      self.expression = expression
      self.weights = weights
      inputs = ["x"]
      selection = [:]
      return
    }
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

  /// What built-in classes compute that are functions of each element.
  private static func formula(of layer: LayerClass.Layer) -> String? {
    switch layer.custom.className {
    case "HardSwish", "Hardswish", "HSwish":
      return "x * clip(x * \(Double(Float(1) / 6)) + 0.5, 0, 1)"
    case "Mish": return "x * tanh(softplus(x))"
    case "GELU", "Gelu", "gelu":
      switch layer.custom.parameters["approximate"] ?? nil {
      case nil, .bool(false)?, .string("none")?: return "x / 2 * (1 + erf(x / sqrt(2)))"
      case .bool(true)?, .string("tanh")?:
        return "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))"
      default: return nil
      }
    case "identity", "Identity", "dropout", "Dropout": return "x"
    case "DeprocessStylizedImage": return "(x + 1) * 127.5"
    default: return nil
    }
  }

  /// γ · x / √max(Σ x², ε) along an axis.
  private static func l2Normalization(_ layer: LayerClass.Layer) -> (String, [Weight])? {
    guard ["L2Normalization", "L2Normalize", "L2Norm"].contains(layer.custom.className),
      let rank = layer.inputShapes.first??.count
    else { return nil }
    var axis = rank < 3 ? -1 : -3
    switch layer.custom.parameters["axis"] ?? nil {
    case nil: break
    case .int(let value)?: axis = Int(value)
    case .long(let value)?: axis = Int(value)
    default: return nil
    }
    if axis >= 0 { axis -= rank }
    guard (-rank..<0).contains(axis) else { return nil }
    var epsilon = Float(1e-12)
    switch (layer.custom.parameters["epsilon"] ?? layer.custom.parameters["eps"]) ?? nil {
    case nil: break
    case .double(let value)?: epsilon = Float(value)
    default: return nil
    }
    let text =
      "x / sqrt(max(sum(x ** 2, axis=\(axis), keepdims=True), \(Double(epsilon))))"
    guard let gamma = layer.custom.blobs.first else { return (text, []) }
    let shape = [gamma.storedCount] + [Int](repeating: 1, count: -axis - 1)
    return ("gamma * " + text, [Weight(name: "gamma", shape: shape)])
  }

  /// Whether the formula is the class' own, computed without rounding in between as the kernels do.
  var isOfClass: Bool { selection.isEmpty }
}

// MARK: - Swift

extension ClassExpression {
  /// Statements that end by returning the value.
  ///
  /// - Parameter properties: those of the class, by the parameters' keys.
  func statements(_ properties: [String: String]) -> [String] {
    var lines: [String] = []
    var places: [Expression: String] = [:]
    func emit(_ expression: Expression) -> String {
      if let place = places[expression] { return place }
      var value: String
      switch expression.node {
      case .number(let number): value = "FormulaArray(\(Self.text(number)))"
      case .name(let name):
        if let index = inputs.firstIndex(of: name) {
          value = "inputs[\(index)]"
        } else if let index = weights.firstIndex(where: { $0.name == name }) {
          value = "try FormulaArray(\(weights[index].shape), floats: self.weights[\(index)])"
        } else {
          value = "FormulaArray(\(properties[name] ?? "0"))"
        }
      case .apply(let function, let operands):
        if let composed = try? function.composed(operands) {
          let place = emit(composed)
          places[expression] = place
          return place
        }
        let isFloat = !isOfClass && Self.floatFunctions.contains(function)
        let name = function.rawValue + (isFloat ? "f" : "")
        value =
          "try FormulaArray.\(name)(" + operands.map(emit).joined(separator: ", ") + ")"
      case .reduce(let reduction, let operand, let axes, let keepsAxes):
        value =
          "try \(emit(operand)).reduced(.\(reduction), "
          + "\(axes.map { "\($0)" } ?? "nil"), keepsAxes: \(keepsAxes))"
      case .slice(let operand, let items):
        value = "try \(emit(operand)).part([\(items.map(Self.text).joined(separator: ", "))])"
      }
      if !isOfClass, case .apply = expression.node { value += ".single" }
      if !isOfClass, case .reduce = expression.node { value += ".single" }
      if !isOfClass, case .number = expression.node { value += ".single" }
      let place = "v\(places.count)"
      lines.append("let \(place) = \(value)")
      places[expression] = place
      return place
    }
    let result = emit(expression)
    return lines + ["return \(result)"]
  }

  private static let floatFunctions: Set<ElementFunction> = [.exp, .log, .tanh, .sqrt]

  private static func text(_ number: Double) -> String {
    number.isNaN
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

// MARK: - Metal

extension ClassExpression {
  /// The value of an element `x` in Metal; nil where it depends on more than that.
  var metal: String? { inputs.count == 1 ? Self.metal(expression, input: inputs[0]) : nil }

  private static func metal(_ expression: Expression, input: String) -> String? {
    switch expression.node {
    case .number(let number):
      guard number.isFinite else { return nil }
      return "float4(\(Float(number))f)"
    case .name(let name): return name == input ? "x" : nil
    case .reduce, .slice: return nil
    case .apply(let function, let operands):
      let values = operands.compactMap { metal($0, input: input) }
      guard values.count == operands.count, expression.count <= 200 else { return nil }
      let (x, y) = (values[0], values.count > 1 ? values[1] : "")
      switch function {
      case .add: return "(\(x) + \(y))"
      case .subtract: return "(\(x) - \(y))"
      case .multiply: return "(\(x) * \(y))"
      case .divide: return "(\(x) / \(y))"
      case .floorDivide: return "floor(\(x) / \(y))"
      case .modulo: return "(\(x) - \(y) * floor(\(x) / \(y)))"
      case .power: return "pow(\(x), \(y))"
      case .minimum: return "min(\(x), \(y))"
      case .maximum: return "max(\(x), \(y))"
      case .less: return "float4(\(x) < \(y))"
      case .lessEqual: return "float4(\(x) <= \(y))"
      case .greater: return "float4(\(x) > \(y))"
      case .greaterEqual: return "float4(\(x) >= \(y))"
      case .equal: return "float4(\(x) == \(y))"
      case .notEqual: return "float4(\(x) != \(y))"
      case .logicalAnd: return "float4(\(x) != 0.0f && \(y) != 0.0f)"
      case .logicalOr: return "float4(\(x) != 0.0f || \(y) != 0.0f)"
      case .negative: return "(-\(x))"
      case .logicalNot: return "float4(\(x) == 0.0f)"
      case .square: return "(\(x) * \(x))"
      case .reciprocal: return "(1.0f / \(x))"
      case .round: return "rint(\(x))"
      case .expm1: return "(exp(\(x)) - 1.0f)"
      case .log1p: return "log(1.0f + \(x))"
      case .erf: return "formula_erf(\(x))"
      case .sigmoid: return "(1.0f / (1.0f + exp(-\(x))))"
      case .relu: return "max(\(x), 0.0f)"
      case .softplus: return "(max(\(x), 0.0f) + log(1.0f + exp(-abs(\(x)))))"
      case .softsign: return "(\(x) / (1.0f + abs(\(x))))"
      case .elu: return "select(\(y) * (exp(\(x)) - 1.0f), \(x), \(x) > 0.0f)"
      case .clip: return "min(max(\(x), \(y)), \(values[2]))"
      case .swish, .mish, .gelu, .tanhGelu:
        return (try? function.composed(operands)).flatMap { metal($0, input: input) }
      case .choose: return "select(\(values[2]), \(y), \(x) != 0.0f)"
      case .abs, .sign, .floor, .ceil, .sqrt, .rsqrt, .exp, .log, .sin, .cos, .tan, .asin, .acos,
        .atan, .sinh, .cosh, .tanh:
        return "\(function.rawValue)(\(x))"
      }
    }
  }

  /// Metal has no error function: Abramowitz and Stegun 7.1.26, within 1.5e-7.
  static let metalErrorFunction = """
    static float4 formula_erf(float4 x) {
      const float4 t = 1.0f / (1.0f + 0.3275911f * abs(x));
      const float4 p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f
          + t * (-1.453152027f + t * 1.061405429f))));
      return sign(x) * (1.0f - p * exp(-x * x));
    }

    """
}
