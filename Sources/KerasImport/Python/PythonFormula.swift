import ByteFormats
import Formulas
import TensorCore

/// The formula that a Python function is, where it is one.
struct PythonFormula: Equatable, Sendable {
  var expression: Expression
  /// The names of the layer's inputs in it.
  var inputs: [String]

  /// What a function is called with.
  struct Surroundings: Sendable {
    var inputCount = 1
    /// Of the last arguments.
    var defaults: [JSONValue] = []
    /// What the function encloses.
    var closure: [JSONValue] = []
    /// By name.
    var arguments: JSONObject = JSONObject()
  }

  /// - Throws: `.unsupported` if the function is more than a formula, or may be several.
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

/// A Python function with what it is called with. Its instructions are followed on paper; none is run.
struct PythonProgram: Sendable {
  let code: PythonCode
  let surroundings: PythonFormula.Surroundings

  init(_ code: PythonCode, _ surroundings: PythonFormula.Surroundings) {
    self.code = code
    self.surroundings = surroundings
  }

  /// The function as each version of Python that may have written it reads it, the likeliest ones
  /// only.
  var readings: [PythonFunction] {
    code.readings.map { PythonFunction(code: code, operations: $0.operations, version: $0.version) }
  }

  /// What all readings that `body` accepts mean.
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
