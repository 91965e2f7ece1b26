import CoreMLModel
import Formulas
import TensorCore

/// Finds Core ML layers of the lowest possible version that compute a formula on blobs.
struct FormulaLowering {
  struct Step {
    /// The descriptive part of the layer's name.
    var kind: String
    var parameters: any LayerParameters
    /// Indices of the formula's inputs or of earlier steps.
    var inputs: [Int]
  }

  /// scale · x + shift, where x is an input or the result of a step.
  struct Line: Hashable {
    var blob: Int
    var scale = 1.0
    var shift = 0.0

    var isPlain: Bool { scale == 1 && shift == 0 }

    /// Whether an offset would cost the other terms of a sum precision, as 1e10 does in x − (1 −
    /// mask) · 1e10. Such an offset is added to its own term first.
    static func isLarge(_ offset: Double) -> Bool { abs(offset) > 100 }
  }

  enum Value {
    case constant(FormulaArray)
    case line(Line)

    var number: Double? {
      if case .constant(let array) = self, array.elements.count == 1 {
        array.elements[0]
      } else {
        nil
      }
    }
  }

  private(set) var steps: [Step] = []
  private(set) var shapes: [[Int?]]
  private let names: [String: Int]
  private let constants: [String: FormulaArray]
  private var known: [Expression: Value] = [:]
  private var settledLines: [Line: Int] = [:]

  init(inputs: [(name: String, shape: [Int?])], constants: [String: FormulaArray]) {
    shapes = inputs.map(\.shape)
    var names: [String: Int] = [:]
    for (index, input) in inputs.enumerated() { names[input.name] = index }
    self.names = names
    self.constants = constants
  }

  /// - Throws: `.unsupported` if no layers compute the formula.
  mutating func lower(_ expression: Expression) throws {
    guard case .line(let line) = try value(expression) else {
      throw ModelError(.mismatch, "the formula does not depend on the layer's input")
    }
    let inputCount = names.count
    var result = settled(line)
    if result < inputCount {
      result = add("copy", Activation(.linear(alpha: 1, beta: 0)), [result], shapes[result])
    }
    try keep(result, inputCount)
  }

  /// Removes unneeded steps; the result becomes the last step.
  private mutating func keep(_ result: Int, _ inputCount: Int) throws {
    var needed: Set<Int> = [result]
    for index in steps.indices.reversed() where needed.contains(index + inputCount) {
      needed.formUnion(steps[index].inputs)
    }
    var positions = Array(0..<inputCount)
    var kept: [Step] = []
    for (index, var step) in steps.enumerated() {
      positions.append(inputCount + kept.count)
      guard needed.contains(index + inputCount), index + inputCount <= result else { continue }
      step.inputs = step.inputs.map { positions[$0] }
      kept.append(step)
    }
    steps = kept
  }

  // MARK: Parts

  mutating func add(
    _ kind: String, _ parameters: any LayerParameters, _ inputs: [Int], _ shape: [Int?]
  ) -> Int {
    steps.append(Step(kind: kind, parameters: parameters, inputs: inputs))
    shapes.append(shape)
    return shapes.count - 1
  }

  /// The blob that holds the value of a line.
  mutating func settled(_ line: Line) -> Int {
    if line.isPlain { return line.blob }
    if let known = settledLines[line] { return known }
    let blob = add(
      "linear", Activation(.linear(alpha: Float(line.scale), beta: Float(line.shift))),
      [line.blob], shapes[line.blob])
    settledLines[line] = blob
    return blob
  }

  /// The blob that holds a value.
  mutating func blob(_ value: Value) throws -> Int {
    switch value {
    case .line(let line): return settled(line)
    case .constant(let array):
      let shape = array.shape.isEmpty ? [1, 1, 1, 1, 1] : array.shape
      try require(
        shape[0] == 1 && shape[1] == 1, .unsupported,
        "a weight that varies along the sequence is not supported")
      var constant = LoadConstant()
      constant.shape = Array(shape[2...])
      constant.data = Weights(array.elements.map { Float($0) })
      return add("constant", constant, [], shape)
    }
  }

  mutating func value(_ expression: Expression) throws -> Value {
    if let value = known[expression] { return value }
    let value: Value
    switch expression.node {
    case .number(let number): value = .constant(FormulaArray(number))
    case .name(let name):
      if let constant = constants[name] {
        value = .constant(constant)
      } else if let input = names[name] {
        value = .line(Line(blob: input))
      } else {
        throw ModelError(.mismatch, "unknown name '\(name)'")
      }
    case .apply(let function, _) where Self.flattened.contains(function):
      value = try joined(function, expression)
    case .apply(let function, let operands):
      if let leaky = try leaky(function, operands) {
        value = leaky
      } else if let composed = try function.composed(operands) {
        value = try self.value(composed)
      } else {
        let values = try operands.map { try self.value($0) }
        value = try folded(expression, values) ?? apply(function, values)
      }
    case .reduce(let reduction, let operand, let axes, _):
      let input = try self.value(operand)
      value = try folded(expression, [input]) ?? reduced(reduction, input, axes ?? [])
    case .slice(let operand, let items):
      let input = try self.value(operand)
      value = try folded(expression, [input]) ?? sliced(input, items)
    }
    known[expression] = value
    return value
  }

  /// Evaluates expressions that do not depend on any input.
  private func folded(_ expression: Expression, _ values: [Value]) throws -> Value? {
    var arrays: [String: FormulaArray] = [:]
    for (index, value) in values.enumerated() {
      guard case .constant(let array) = value else { return nil }
      arrays["_\(index)"] = array
    }
    let positions = values.indices.map { Expression.name("_\($0)") }
    let node: Expression.Node =
      switch expression.node {
      case .apply(let function, _): .apply(function, positions)
      case .reduce(let reduction, _, let axes, let keepsAxes):
        .reduce(reduction, positions[0], axes: axes, keepsAxes: keepsAxes)
      case .slice(_, let items): .slice(positions[0], items)
      case .number, .name: expression.node
      }
    return .constant(try Expression(node).value(arrays))
  }

  /// Functions that accept any number of operands.
  private static let flattened: Set<ElementFunction> = [
    .add, .subtract, .multiply, .maximum, .minimum,
  ]

  private mutating func joined(
    _ function: ElementFunction, _ expression: Expression
  ) throws -> Value {
    let parts = Self.operands(of: expression, function == .subtract ? .add : function, false)
    var constant: Value?
    var lines: [Line] = []
    for (part, isNegative) in parts {
      var value = try self.value(part)
      if isNegative { value = try negated(value) }
      switch value {
      case .line(let line): lines.append(line)
      case .constant(let array):
        guard case .constant(let other)? = constant else {
          constant = value
          continue
        }
        constant = try folded(
          Expression(.apply(function == .subtract ? .add : function, [.number(0), .number(0)])),
          [.constant(other), .constant(array)])
      }
    }
    guard !lines.isEmpty else { return constant ?? .constant(FormulaArray(0)) }
    switch function {
    case .multiply: return try product(lines, constant)
    case .maximum: return try greatest(lines, constant)
    case .minimum:
      // min(a, b) = −max(−a, −b), if that needs no additional layer.
      if lines.count == 1, let number = constant?.number {
        return try negated(greatest([lines[0].times(-1)], .constant(FormulaArray(-number))))
      }
      return try extreme(Min(), "min", lines, constant)
    default: return try sum(lines, constant)
    }
  }

  private static func operands(
    of expression: Expression, _ function: ElementFunction, _ isNegative: Bool,
    isNested: Bool = false
  ) -> [(Expression, isNegative: Bool)] {
    guard case .apply(let own, let operands) = expression.node,
      own == function || function == .add && own == .subtract,
      !isNested || function != .add || !operands.contains(where: { Line.isLarge($0.number ?? 0) })
    else { return [(expression, isNegative)] }
    return operands.enumerated().flatMap { index, operand in
      Self.operands(
        of: operand, function, isNegative != (own == .subtract && index == 1), isNested: true)
    }
  }

  private func negated(_ value: Value) throws -> Value {
    switch value {
    case .line(let line): .line(line.times(-1))
    case .constant(let array):
      .constant(FormulaArray(array.shape, array.elements.map { -$0 }))
    }
  }

  /// x > 0 ? x : αx
  private mutating func leaky(
    _ function: ElementFunction, _ operands: [Expression]
  ) throws -> Value? {
    guard function == .choose, case .apply(let comparison, let sides) = operands[0].node,
      comparison == .greater || comparison == .greaterEqual, sides[1].number == 0,
      sides[0] == operands[1], case .apply(.multiply, let factors) = operands[2].node,
      let slope = factors[0].number ?? factors[1].number, factors.contains(operands[1]),
      case .line(let line) = try value(operands[1])
    else { return nil }
    let input = settled(line)
    return .line(
      Line(blob: add("leaky", Activation(.leakyReLU(alpha: Float(slope))), [input], shapes[input])))
  }
}

extension FormulaLowering.Line {
  func times(_ factor: Double) -> Self {
    Self(blob: blob, scale: scale * factor, shift: shift * factor)
  }

  func plus(_ number: Double) -> Self { Self(blob: blob, scale: scale, shift: shift + number) }
}
