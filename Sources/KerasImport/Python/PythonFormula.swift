import ByteFormats
import Formulas
import TensorCore

/// The formula that a Python function is equivalent to.
struct PythonFormula: Equatable, Sendable {
  var expression: Expression
  /// The names of the layer's inputs in the formula.
  var inputs: [String]

  /// Everything that a function is called with.
  struct Surroundings: Sendable {
    var inputCount = 1
    /// The defaults of the last arguments.
    var defaults: [JSONValue] = []
    /// The values of enclosed variables.
    var closure: [JSONValue] = []
    /// Arguments by name.
    var arguments: JSONObject = JSONObject()
  }

  /// - Throws: `.unsupported` if the function is not equivalent to a single formula.
  init(_ code: PythonCode, _ surroundings: Surroundings) throws {
    self = try PythonProgram(code, surroundings).agreed { function in
      let machine = PythonMachine()
      let (inputs, symbols) = try machine.inputs(of: function.code, surroundings.inputCount)
      guard case .expression(let expression) = try machine.start(function, symbols, surroundings)
      else { throw ModelError(.unsupported, "it does not return a tensor") }
      guard machine.constants.isEmpty else {
        throw ModelError(.unsupported, "it computes with arrays")
      }
      return PythonFormula(expression: expression, inputs: inputs)
    }
  }

  private init(expression: Expression, inputs: [String]) {
    self.expression = expression
    self.inputs = inputs
  }
}

/// A Python function and its arguments. Its instructions are interpreted symbolically, never run.
struct PythonProgram: Sendable {
  let code: PythonCode
  let surroundings: PythonFormula.Surroundings

  init(_ code: PythonCode, _ surroundings: PythonFormula.Surroundings) {
    self.code = code
    self.surroundings = surroundings
  }

  /// The function's instructions, as read for each Python version that may have written them; only
  /// the most likely versions.
  var readings: [PythonFunction] {
    code.readings.map { PythonFunction(code: code, operations: $0.operations, version: $0.version) }
  }

  /// The result that all readings accepted by `body` agree on.
  func agreed<Meaning: Equatable>(_ body: (PythonFunction) throws -> Meaning) throws -> Meaning {
    var found: [Meaning] = []
    var reason: (any Error)?
    for function in readings {
      do {
        let meaning = try body(function)
        if !found.contains(meaning) { found.append(meaning) }
      } catch { reason = reason ?? error }
    }
    guard let first = found.first else {
      throw reason ?? ModelError(.unsupported, "its instructions are unknown")
    }
    try require(found.count == 1, .unsupported, "Python versions disagree about its meaning")
    return first
  }
}
