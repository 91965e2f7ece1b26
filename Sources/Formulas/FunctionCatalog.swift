import TensorCore

/// An argument of a function in a formula.
package enum FunctionArgument: Sendable, Equatable {
  case expression(Expression)
  case list([Int])
  case flag(Bool)
  case text(String)
  case none
}

/// The functions by name, with the parameter names of Keras, TensorFlow and numpy.
package enum FunctionCatalog {
  /// All names, in alphabetical order.
  package static let names: [String] = entries.keys.sorted()

  /// - Parameter keywords: keyword arguments in the order in which they are written.
  package static func call(
    _ name: String, _ positional: [FunctionArgument],
    _ keywords: [(name: String, value: FunctionArgument)] = []
  ) throws -> Expression {
    guard let entry = entries[name] else { throw unknown(name) }
    try require(
      positional.count <= entry.parameters.count,
      "\(name) takes at most \(entry.parameters.count) arguments but gets \(positional.count)",
      hint: entry.usage(name))
    var bound = [FunctionArgument](repeating: .none, count: entry.parameters.count)
    for (index, argument) in positional.enumerated() { bound[index] = argument }
    for (keyword, value) in keywords {
      let positions = entry.parameters.indices.filter {
        entry.parameters[$0].names.contains(keyword)
      }
      try require(
        !positions.isEmpty, "\(name) has no parameter '\(keyword)'", hint: entry.usage(name))
      guard let index = positions.first(where: { $0 >= positional.count && bound[$0] == .none })
      else { throw ModelError(.malformed, "\(name) gets '\(keyword)' twice") }
      bound[index] = value
    }
    return try entry.build(Arguments(function: name, parameters: entry.parameters, values: bound))
  }

  static func unknown(_ name: String) -> ModelError {
    ModelError(
      .malformed, "unknown function '\(name)'",
      hint: "the functions are " + names.joined(separator: ", "))
  }

  /// The function's name in formulas.
  static func name(of function: ElementFunction) -> String {
    function == .choose ? "where" : Settings.words(of: function.rawValue, separator: "_")
  }
}

extension FunctionCatalog {
  struct Parameter: Sendable {
    private(set) var names: [String]
    private(set) var isRequired = true

    init(_ names: String...) { self.names = names }

    static func optional(_ names: String...) -> Parameter {
      var parameter = Parameter()
      (parameter.names, parameter.isRequired) = (names, false)
      return parameter
    }
  }

  struct Entry: Sendable {
    let parameters: [Parameter]
    let build: @Sendable (Arguments) throws -> Expression

    func usage(_ name: String) -> String {
      let list = parameters.map { $0.isRequired ? $0.names[0] : "[\($0.names[0])]" }
      return "write \(name)(" + list.joined(separator: ", ") + ")"
    }
  }

  struct Arguments {
    let function: String
    let parameters: [Parameter]
    let values: [FunctionArgument]

    private func argument(_ name: String) -> FunctionArgument {
      parameters.firstIndex { $0.names[0] == name }.map { values[$0] } ?? .none
    }

    func bad(_ name: String, _ wanted: String) -> ModelError {
      ModelError(.malformed, "\(function): \(name) must be \(wanted)")
    }

    /// An array.
    subscript(name: String) -> Expression {
      get throws {
        switch argument(name) {
        case .expression(let expression): return expression
        case .flag(let flag): return .number(flag ? 1 : 0)
        case .none: throw ModelError(.malformed, "\(function) needs \(name)")
        default: throw bad(name, "array")
        }
      }
    }

    func isGiven(_ name: String) -> Bool { argument(name) != .none }

    func number(_ name: String, default standard: Double) throws -> Double {
      switch argument(name) {
      case .none: return standard
      case .expression(let expression):
        guard let number = expression.number else { throw bad(name, "number") }
        return number
      default: throw bad(name, "number")
      }
    }

    func flag(_ name: String) throws -> Bool {
      switch argument(name) {
      case .none: return false
      case .flag(let flag): return flag
      case .expression(let expression):
        guard let number = expression.number else { throw bad(name, "truth value") }
        return number != 0
      default: throw bad(name, "truth value")
      }
    }

    func text(_ name: String) -> String? {
      if case .text(let text) = argument(name) { text } else { nil }
    }

    /// One axis or several; nil means all.
    func axes(_ name: String = "axis") throws -> [Int]? {
      switch argument(name) {
      case .none: return nil
      case .list(let axes): return axes
      case .expression(let expression):
        guard let axis = expression.number.flatMap({ Int(exactly: $0) }) else {
          throw bad(name, "whole number")
        }
        return [axis]
      default: throw bad(name, "whole number")
      }
    }
  }
}
