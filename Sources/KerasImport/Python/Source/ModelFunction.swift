import CoreMLModel
import ImportSupport
import PythonSource
import TensorCore

/// A function in a source file that builds a network, such as `model.py:build_model(width=32)`.
struct ModelFunction {
  let path: String
  private let call: String

  /// Nil if the text does not start with the name of a Python file.
  init?(_ text: String) {
    if let end = text.firstRange(of: ".py:") {
      path = text[..<end.lowerBound] + ".py"
      call = String(text[end.upperBound...])
    } else {
      guard text.hasSuffix(".py") else { return nil }
      (path, call) = (text, "")
    }
  }

  /// The model that the function returns.
  ///
  /// - Parameter files: the source files; the first one defines the function.
  func model(_ files: PythonFiles, version: KerasVersion) throws -> ModelDefinition {
    let machine = PythonMachine()
    machine.scopes = files.files.map { PythonScope($0.path, $0.module) }
    let graph = PythonGraph()
    machine.layers = PythonLayers(nil, graph)
    var call = LayerCall(
      name: "model", className: "Model", inputs: [], version: version, weights: [],
      preferredImage: .channelsLast)
    call.missingWeights = .zeros
    let network = KerasWriter(version: version, rules: CustomLayerRules(), onVisit: nil)
    machine.tensors = PythonTensors(network, call, [], last: nil)
    let (function, arguments) = try parsed(machine.scopes[0])
    do {
      let scope = machine.scopes[0]
      func value(_ argument: PythonArgument) throws -> PythonSymbol {
        try scope.value(of: argument.value, machine, isOwn: false)
      }
      let result = try machine.call(
        scope.value(of: function, machine, isOwn: false),
        arguments.filter { $0.name == nil }.map(value),
        arguments.compactMap { argument in
          try argument.name.map { ($0, try value(argument)) }
        })
      for symbol in [result] + (result.elements ?? []) {
        if case .object(let object) = symbol, object.isModel {
          return try graph.definition(object, machine)
        }
      }
      throw PythonMachine.unsupported("\(self.call) does not return a Model or Sequential")
    } catch let error as ModelError {
      // Messages already start with the path of the function's file.
      let place = machine.place.map {
        $0.hasPrefix(path + ", ") ? $0.dropFirst(path.count + 2) : $0[...]
      }
      throw ModelError(
        error.code, (place.map { $0 + ": " } ?? "") + error.message, hint: error.hint)
    }
  }

  /// The function, and its arguments, which are literals.
  private func parsed(
    _ scope: PythonScope
  ) throws -> (function: PythonExpression, arguments: [PythonArgument]) {
    let names = scope.functionNames.sorted()
    let known = ModelError(
      .mismatch,
      !call.isEmpty
        ? "it has no function for '\(call)'"
        : names.isEmpty
          ? "is text, not a model: it has no function that could build a network"
          : "which of its functions builds the network is not said",
      hint: names.isEmpty
        ? nil
        : "name one of its functions, as in \(path):\(names[0]): " + names.joined(separator: ", "))
    let text = call.isEmpty && names.count == 1 ? names[0] : call
    let statements = (try? PythonModule(parsing: Array(text.utf8)))?.statements ?? []
    guard statements.count == 1, case .expression(var function) = statements[0].kind else {
      throw known
    }
    var arguments: [PythonArgument] = []
    if case .call(let called, let given) = function.kind { (function, arguments) = (called, given) }
    var root = function
    while case .attribute(let object, _) = root.kind { root = object }
    guard case .name(let name) = root.kind, scope.defines(name) else { throw known }
    guard arguments.allSatisfy({ $0.form == .plain && Self.isLiteral($0.value) }) else {
      throw ModelError(.mismatch, "the arguments in \(text) must be literals, as 32 or 'same'")
    }
    return (function, arguments)
  }

  private static func isLiteral(_ expression: PythonExpression) -> Bool {
    switch expression.kind {
    case .none, .bool, .int, .double, .string: true
    case .tuple(let parts), .list(let parts): parts.allSatisfy(isLiteral)
    case .unary(_, let value): isLiteral(value)
    case .dictionary(let members):
      members.allSatisfy { $0.key.map(isLiteral) ?? false && isLiteral($0.value) }
    default: false
    }
  }
}
