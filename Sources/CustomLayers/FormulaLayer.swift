import Formulas
import Kernels
import TensorCore

/// Evaluates the parameter `expression`, on arrays `[Seq, Batch, C, H, W]` or with the network's
/// own axes.
///
/// The parameter `inputs` names the inputs, `weights` the weights with their shapes, such as
/// `beta[1,1,6,1,1]`; other numeric parameters are available in the formula by name.
package final class FormulaLayer: BuiltInCustomLayer, CustomLayerWithFormula {
  package static let className = "Formula"
  package static let notes = CustomLayerNotes(
    "the `expression`; see [formulas](formulas.md)",
    parameters: [
      "`expression`, text", "`inputs`, their names, separated by commas (x)",
      "`weights`, their names and shapes, `beta[1,1,6,1,1]` (none)",
      "others: numbers in the formula",
    ], weights: "those of `weights`")

  private let expression: Expression
  private let inputs: [String]
  private let weightShapes: [(name: String, shape: [Int])]
  private var weights: [String: FormulaArray] = [:]
  private let kernels: any KernelTable.Type
  private var program: (shapes: [[Int]], program: VectorProgram)?

  package init(parameters: [String: CustomLayerParameter]) throws {
    func text(_ name: String) throws -> String? {
      guard let parameter = parameters[name] else { return nil }
      guard case .string(let text) = parameter else {
        throw ModelError(.malformed, "\(parameter) is not a string", field: "parameters.\(name)")
      }
      return text
    }
    guard let formula = try text("expression") else {
      throw ModelError(.malformed, "the formula is missing", field: "parameters.expression")
    }
    inputs = (try text("inputs") ?? "x").split(separator: ",").map(String.init)
    weightShapes = try Self.weightShapes(text("weights") ?? "")
    var numbers: [String: Expression] = [:]
    for (name, parameter) in parameters {
      if case .bool(let flag) = parameter { numbers[name] = .number(flag ? 1 : 0) }
      if case .double(let number) = parameter { numbers[name] = .number(number) }
      if case .int(let number) = parameter { numbers[name] = .number(Double(number)) }
      if case .long(let number) = parameter { numbers[name] = .number(Double(number)) }
    }
    let names = inputs + weightShapes.map(\.name) + numbers.keys
    do {
      expression = try Expression(parsing: formula, names: Set(names)).replacing(numbers)
    } catch var error as ModelError {
      error.field = error.field ?? "parameters.expression"
      throw error
    }
    kernels = try InstructionSet.selected().kernels
  }

  private static func weightShapes(_ text: String) throws -> [(name: String, shape: [Int])] {
    var result: [(name: String, shape: [Int])] = []
    var rest = text[...]
    while !rest.isEmpty {
      guard let open = rest.firstIndex(of: "["), let close = rest[open...].firstIndex(of: "]")
      else {
        throw ModelError(
          .malformed, "'\(rest)' does not name a weight", field: "parameters.weights")
      }
      let sizes = rest[rest.index(after: open)..<close].split(separator: ",")
      let shape = sizes.compactMap { Int($0) }
      try require(
        shape.count == sizes.count && shape.count <= Limits.rank && shape.allSatisfy({ $0 > 0 }),
        "'\(rest)' does not name a weight", field: "parameters.weights")
      result.append((String(rest[..<open]), shape))
      rest = rest[rest.index(after: close)...]
      if rest.first == "," { rest.removeFirst() }
    }
    return result
  }

  package func setWeightData(_ data: [Bytes]) throws {
    try require(
      data.count == weightShapes.count,
      "it has \(data.count) weights, but the formula has \(weightShapes.count)", field: "weights")
    for (bytes, (name, shape)) in zip(data, weightShapes) {
      let count = try checkedProduct(shape, limit: Limits.tensorElements)
      let values: [Double]
      if bytes.count == 4 * count {
        values = bytes.array(of: Float.self).map { Double($0) }
      } else if bytes.count == 2 * count {
        values = bytes.array(of: UInt16.self).map { Double(Half.float($0)) }
      } else {
        throw ModelError(
          .malformed, "'\(name)' has \(bytes.count) bytes; \(count) numbers are needed",
          field: "weights")
      }
      weights[name] = FormulaArray(shape, values)
    }
    program = nil
  }

  package func outputShapes(forInputShapes inputShapes: [[Int]]) throws -> [[Int]] {
    let shape = try program(inputShapes).outputShape
    try require(!shape.isEmpty, "the formula's result is a number; an array is needed")
    return [shape]
  }

  package func formula(forInputShapes shapes: [[Int]]) throws -> CustomLayerFormula? {
    CustomLayerFormula(expression: expression, inputs: inputs, weights: weights)
  }

  package func evaluate(inputs: [CustomLayerInput], outputs: [CustomLayerOutput]) throws {
    let program = try program(inputs.map(\.shape))
    try require(
      outputs.count == 1 && outputs[0].shape == program.outputShape,
      "the outputs do not match the formula")
    program.run(inputs.map(\.first), outputs[0].first)
  }

  private func program(_ shapes: [[Int]]) throws -> VectorProgram {
    if let program, program.shapes == shapes { return program.program }
    try require(
      shapes.count == inputs.count,
      "it has \(counted(shapes.count, "input")), but the class takes \(inputs.count)")
    let made = try VectorProgram(
      expression, inputs: Array(zip(inputs, shapes)), weights: weights, kernels: kernels)
    program = (shapes, made)
    return made
  }
}
