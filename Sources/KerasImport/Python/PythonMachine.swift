import ByteFormats
import Formulas
import TensorCore

/// Interprets a Python function with symbols instead of tensors: computes everything that depends
/// only on known values, and records everything that depends on tensors. No code is run.
///
/// The number of steps, the call depth and the sizes of values are limited.
final class PythonMachine {
  static let stepLimit = 20_000
  static let depthLimit = 16
  static let listLimit = 4096
  /// The call depth and the number of steps in source files.
  static let sourceLimits = (depth: 32, steps: 200_000)

  private var steps = 0
  private var depth = 0
  /// Whether a None in a shape may be a size other than the batch size.
  var hidesSizes = false
  /// The object whose method is being called.
  private(set) var current: PythonObject?
  /// The layer itself, which may have objects inside that were made before.
  var root: PythonObject?
  /// Arrays that expressions refer to by name.
  var constants: [String: FormulaArray] = [:]
  /// Turns computations into layers; nil if only a formula is needed.
  var tensors: PythonTensors?
  /// The source files, and the state of the objects that they create; nil if there are no files.
  var scopes: [PythonScope] = []
  var layers: PythonLayers?
  /// The maximum number of elements of a computed array.
  var arrayLimit: Int { isRecipe ? 1 << 24 : 1 << 20 }
  /// Whether this interprets a built-in recipe, whose layers handle masks.
  var isRecipe = false
  /// The location in a source file where interpretation failed.
  private(set) var place: String?
  private var library: PythonScope?

  /// One call of a function.
  struct Frame {
    let function: PythonFunction
    var locals: [PythonSymbol?]
    var cells: [String: PythonCell] = [:]
    var stack: [PythonSymbol] = []
    /// The names of the last arguments of the next call.
    var names: [String] = []
    var loops: [(end: Int, height: Int)] = []
    var next = 0

    var code: PythonCode { function.code }
  }

  /// A function or class of a library that is written in terms of others; nil for the rest.
  func written(_ path: String) throws -> PythonSymbol? {
    guard let layers, layers.graph == nil, tensors?.call.version.isAtLeast(2, 3) == true else {
      return nil
    }
    let scope = try library ?? PythonScope("", Recipes.functions.get())
    library = scope
    let name = path.replacing(".", with: "_")
    return scope.defines(name) && path.contains(".") ? try scope.value(name, self) : nil
  }

  /// What their names start with.
  static let writtenLayers = "keras_layers_"

  // MARK: Functions

  /// The names of a layer's inputs, and the symbols that the function receives.
  func inputs(
    of code: PythonCode, _ count: Int
  ) throws -> (names: [String], symbols: [PythonSymbol]) {
    guard code.argumentCount > 0, code.argumentCount <= code.variables.count else {
      throw ModelError(.unsupported, "it takes no input, or is not a plain function")
    }
    guard count > 0 else { throw ModelError(.unsupported, "it has no input") }
    let name = Self.usable(code.variables[0])
    let names = count == 1 ? [name] : (0..<count).map { "\(name)\($0)" }
    let symbols = names.map { PythonSymbol.expression(.name($0)) }
    return (names, count == 1 ? symbols : [.list(PythonList(symbols))])
  }

  /// A name without another meaning in formulas.
  private static func usable(_ name: String) -> String {
    let isPlain =
      name.utf8.count <= 64 && name.first?.isNumber == false
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    let taken: Set<String> = ["pi", "inf", "nan", "True", "False", "None", "newaxis"]
    return isPlain && !taken.contains(name) ? name : "x"
  }

  /// The result of a layer's function.
  func start(
    _ function: PythonFunction, _ inputs: [PythonSymbol],
    _ surroundings: PythonFormula.Surroundings
  ) throws -> PythonSymbol {
    var function = function
    // Unreadable defaults, variables and arguments are errors only if used.
    function.defaults = surroundings.defaults.map { (try? PythonSymbol($0)) ?? .null }
    function.closure = surroundings.closure.map { PythonCell(try? PythonSymbol($0)) }
    let known = function.code.variables.prefix(
      max(0, function.code.argumentCount) + max(0, function.code.keywordOnlyCount))
    var keywords: [(name: String, value: PythonSymbol)] = []
    for (name, value) in surroundings.arguments.members where known.dropFirst().contains(name) {
      keywords.append((name, (try? PythonSymbol(value)) ?? .null))
    }
    return try call(function, inputs, keywords, isOutermost: true)
  }

  func call(
    _ function: PythonFunction, _ positional: [PythonSymbol],
    _ keywords: [(name: String, value: PythonSymbol)], isOutermost: Bool = false
  ) throws -> PythonSymbol {
    let code = function.code
    let (count, named) = (code.argumentCount, code.keywordOnlyCount)
    guard code.flags & PythonCode.generatorFlags == 0, count >= 0, named >= 0,
      named <= code.variables.count, count <= code.variables.count - named
    else { throw ModelError(.unsupported, "it calls a function that is not a plain function") }
    let limit = layers == nil ? Self.depthLimit : Self.sourceLimits.depth
    try require(depth < limit, .unsupported, "its functions call each other too deeply")
    let outer = current
    if function.owner != nil, case .object(let object)? = positional.first { current = object }
    depth += 1
    defer { (depth, current) = (depth - 1, outer) }
    var frame = Frame(
      function: function, locals: [PythonSymbol?](repeating: nil, count: code.variables.count))
    let takesMore = code.flags & 4 != 0 && count + named < code.variables.count
    let takesNames = code.flags & 8 != 0 && layers != nil
    let others = PythonDictionary()
    guard positional.count <= count || takesMore, function.defaults.count <= count else {
      throw ModelError(.unsupported, "it calls a function with \(positional.count) arguments")
    }
    for (index, value) in function.defaults.enumerated() {
      frame.locals[count - function.defaults.count + index] = value
    }
    for (name, value) in function.keywordDefaults {
      if let index = code.variables.firstIndex(of: name) { frame.locals[index] = value }
    }
    for (index, value) in positional.prefix(count).enumerated() { frame.locals[index] = value }
    for (name, value) in keywords {
      guard let index = code.variables.prefix(count + named).firstIndex(of: name) else {
        if takesNames {
          others[name] = value
          continue
        }
        throw ModelError(.unsupported, "it calls a function with the unknown argument '\(name)'")
      }
      frame.locals[index] = value
    }
    if takesMore { frame.locals[count + named] = .tuple(Array(positional.dropFirst(count))) }
    if takesNames { frame.locals[count + named + (takesMore ? 1 : 0)] = .dictionary(others) }
    for index in 0..<count + named where !isOutermost && frame.locals[index] == nil {
      throw ModelError(
        .unsupported, "it calls a function without its argument '\(code.variables[index])'")
    }
    for index in frame.locals.indices where frame.locals[index]?.isNull == true {
      frame.locals[index] = nil
    }
    for (name, cell) in zip(code.free, function.closure) { frame.cells[name] = cell }
    if code.layout != .python311 {
      for name in code.cells {
        frame.cells[name] = PythonCell(
          code.variables.firstIndex(of: name).flatMap { frame.locals[$0] })
      }
    }
    return try run(&frame)
  }

  private func run(_ frame: inout Frame) throws -> PythonSymbol {
    let operations = frame.function.operations
    while frame.next < operations.count {
      try take(steps: 1)
      let operation = operations[frame.next]
      frame.next += 1
      switch operation {
      case .result: return try frame.pop()
      case .constantResult(let index): return try frame.constant(index)
      default:
        do { try perform(operation, &frame) } catch {
          if place == nil, let scope = frame.function.scope, scope !== library,
            frame.next <= frame.function.positions.count
          {
            place = "\(scope.path), \(frame.function.positions[frame.next - 1])"
          }
          throw error
        }
        if let top = frame.stack.last { try measure(top) }
      }
    }
    throw Self.malformed
  }

  /// Counts a value's elements as steps, since few steps can build very many elements.
  private func measure(_ symbol: PythonSymbol) throws {
    var left = PythonMarshal.nodeLimit
    guard symbol.fits(depth: 6, nodes: &left) else {
      throw Self.unsupported("it builds nested lists")
    }
    try take(steps: (PythonMarshal.nodeLimit - left) / 16)
  }

  func take(steps count: Int) throws {
    steps += count
    let limit = layers == nil ? Self.stepLimit : Self.sourceLimits.steps
    try require(steps <= limit, .unsupported, "it takes too many steps")
  }

  static let raised = "it raises an error for these inputs"
  static let malformed = ModelError(.unsupported, "its bytecode is damaged")

  static func unsupported(_ message: String) -> ModelError { ModelError(.unsupported, message) }

  // MARK: Values

  /// Whether a value is true in a condition.
  func truth(_ symbol: PythonSymbol) throws -> Bool {
    switch symbol {
    case .none: return false
    case .string(let text): return !text.isEmpty
    case .tuple, .list, .dictionary: return !(symbol.elements ?? []).isEmpty
    case .library, .function, .method, .type, .object, .bound, .parent, .module: return true
    case .unknownSize: throw Self.unsupported("it branches on an unknown size")
    case .sizes, .array, .expression:
      guard let number = symbol.expression?.number else {
        throw Self.unsupported("it branches on the values of a tensor")
      }
      return number != 0
    default:
      guard let number = symbol.double else { throw Self.malformed }
      return number != 0
    }
  }

  /// The elements that a loop over a value visits.
  func elements(_ symbol: PythonSymbol) throws -> [PythonSymbol] {
    if let elements = symbol.elements { return elements }
    if case .iterator(let iterator) = symbol {
      var elements: [PythonSymbol] = []
      while let element = iterator.next() { elements.append(element) }
      return elements
    }
    if case .string(let text) = symbol { return text.map { .string(String($0)) } }
    throw Self.unsupported("it loops over a tensor")
  }

  /// The list, unless it is too long.
  func bounded(_ elements: [PythonSymbol]) throws -> [PythonSymbol] {
    try require(
      elements.count <= Self.listLimit, .limitExceeded, "it makes a list that is too long")
    return elements
  }

  func sum(_ left: PythonSymbol, _ right: PythonSymbol) throws -> PythonSymbol? {
    switch (left, right) {
    case (.string(let a), .string(let b)): return .string(String((a + b).prefix(256)))
    case (.tuple(let a), .tuple(let b)): return .tuple(try bounded(a + b))
    case (.library(Self.weights), .library(Self.weights)): return left
    case (.list(let a), .list(let b)):
      return .list(PythonList(try bounded(a.elements + b.elements)))
    default: return nil
    }
  }

  /// A repeated list or tuple; nil for anything else.
  func repeated(_ bundle: PythonSymbol, _ count: Int) throws -> PythonSymbol? {
    func all(_ elements: [PythonSymbol]) throws -> [PythonSymbol] {
      let times = max(count, 0)
      try require(
        times <= Self.listLimit && times * elements.count <= Self.listLimit, .limitExceeded,
        "it makes a list that is too long")
      return (0..<times).flatMap { _ in elements }
    }
    switch bundle {
    case .tuple(let elements): return .tuple(try all(elements))
    case .list(let list): return .list(PythonList(try all(list.elements)))
    default: return nil
    }
  }
}

extension PythonMachine.Frame {
  mutating func push(_ symbol: PythonSymbol) throws {
    guard stack.count < code.stackSize else { throw PythonMachine.malformed }
    stack.append(symbol)
  }

  mutating func pop() throws -> PythonSymbol {
    guard let symbol = stack.popLast() else { throw PythonMachine.malformed }
    return symbol
  }

  mutating func pop(_ count: Int) throws -> [PythonSymbol] {
    guard count >= 0, count <= stack.count else { throw PythonMachine.malformed }
    let result = Array(stack.suffix(count))
    stack.removeLast(count)
    return result
  }

  func constant(_ index: Int) throws -> PythonSymbol {
    guard code.constants.indices.contains(index) else { throw PythonMachine.malformed }
    return try PythonSymbol(code.constants[index])
  }

  func name(_ index: Int) throws -> String {
    guard code.names.indices.contains(index) else { throw PythonMachine.malformed }
    return code.names[index]
  }

  func variable(_ index: Int) throws -> String {
    guard locals.indices.contains(index) else { throw PythonMachine.malformed }
    return code.variables[index]
  }

  /// The shared variable at an index.
  func cell(_ index: Int) throws -> (name: String, cell: PythonCell) {
    // Up to 3.10, cells and enclosed variables have separate indices.
    let all = code.layout == .python311 ? code.variables : code.cells + code.free
    guard all.indices.contains(index) else { throw PythonMachine.malformed }
    guard let cell = cells[all[index]] else {
      throw PythonMachine.unsupported("the value of '\(all[index])' is unknown")
    }
    return (all[index], cell)
  }

  /// The list at a position from the top of the stack.
  func list(_ place: Int) throws -> PythonList {
    guard place > 0, place <= stack.count, case .list(let list) = stack[stack.count - place] else {
      throw PythonMachine.malformed
    }
    return list
  }
}
