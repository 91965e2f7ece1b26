import Formulas

/// Python code for messages.
enum PythonText {
  static func text(_ symbol: PythonSymbol) -> String {
    switch symbol {
    case .expression(let expression): return short("\(expression)")
    case .int(let value): return "\(value)"
    case .double(let value): return "\(value)"
    case .bool(let value): return value ? "True" : "False"
    case .string(let text): return "'\(text.prefix(200))'"
    case .none: return "None"
    case .ellipsis: return "..."
    case .tuple(let elements):
      return "(" + elements.prefix(9).map(text).joined(separator: ", ")
        + (elements.count == 1 ? ",)" : ")")
    case .array(let array) where array.shape.count > 1: return "array\(array.shape)"
    case .list, .sizes, .array:
      return "[" + (symbol.elements ?? []).prefix(9).map(text).joined(separator: ", ") + "]"
    case .unknownSize: return "?"
    case .library(let path): return path
    case .function(let function): return function.code.name
    case .code(let code): return code.name
    default: return "…"
    }
  }

  static func call(
    _ path: String, _ positional: [PythonSymbol], _ keywords: PythonMachine.Keywords
  ) -> String {
    path + "("
      + (positional.map(text) + keywords.map { "\($0.name)=\(text($0.value))" }).joined(
        separator: ", ") + ")"
  }

  static func short(_ text: String, limit: Int = 200) -> String {
    text.count <= limit ? text : text.prefix(limit) + "…"
  }

  /// A function as it may have been written, in one line.
  static func function(_ program: PythonProgram) -> String? {
    guard let function = program.readings.first else { return nil }
    let code = function.code
    let arguments = code.variables.prefix(max(0, code.argumentCount)).joined(separator: ", ")
    var writer = PythonWriter(function)
    writer.write()
    let body = short(writer.text, limit: 600)
    return "def \(code.name == "<lambda>" ? "f" : code.name)(\(arguments)): \(body)"
  }
}

/// Writes instructions as statements: values become strings, jumps become `if`, `else` and `for`.
private struct PythonWriter {
  private let code: PythonCode
  private let operations: [PythonOperation]
  private let constants: [PythonSymbol?]
  /// The constants as strings.
  private let texts: [String]
  private var stack: [String] = []
  private var names: [String] = []
  /// The blocks that jumps have opened, innermost last.
  private var ends: [Block] = []
  private(set) var lines: [String] = []

  private struct Block {
    var end: Int
    var condition: String
    /// The numbers of values and lines before the block.
    var height: Int
    var lineCount: Int
    /// The value of the first branch, if the block chooses between two values.
    var value: String?
  }

  init(_ function: PythonFunction) {
    code = function.code
    operations = function.operations
    constants = code.constants.map { try? PythonSymbol($0) }
    texts = constants.map { $0.map(PythonText.text) ?? "…" }
  }

  mutating func write() {
    for (index, operation) in operations.enumerated() {
      while let block = ends.last, block.end <= index {
        ends.removeLast()
        end(block, at: index)
      }
      guard lines.count < 100, stack.count < PythonMachine.listLimit else { return }
      statement(operation, at: index)
    }
    while let block = ends.popLast() { end(block, at: operations.count) }
  }

  /// All statements in one line.
  var text: String {
    var text = ""
    for line in lines {
      if !text.isEmpty { text += text.hasSuffix("{") || line == "}" ? " " : "; " }
      text += line
    }
    return text.replacing("}; else", with: "} else").replacing("{ }", with: "{}")
  }

  private mutating func end(_ block: Block, at index: Int) {
    let choice = stack.count == block.height + 1 && lines.count == block.lineCount
    if let value = block.value {
      if choice {
        let other = pop()
        return push("(\(value) if \(block.condition) else \(other))")
      }
      lines.append("… = \(value)")
    }
    // A jump at the end of a block skips the `else` block.
    guard block.value == nil, block.end == index, index > 0,
      case .jump(let target) = operations[index - 1], target > index
    else { return lines.append("}") }
    if choice {
      lines.removeLast()
      let value = pop()
      ends.append(
        Block(
          end: target, condition: block.condition, height: block.height, lineCount: lines.count,
          value: value))
    } else {
      lines += ["}", "else {"]
      ends.append(Block(end: target, condition: "", height: stack.count, lineCount: lines.count))
    }
  }

  /// The text without outer parentheses.
  private static func bare(_ text: String) -> String {
    guard text.hasPrefix("("), text.hasSuffix(")") else { return text }
    var depth = 0
    for character in text.dropLast() {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if depth == 0 { return text }
    }
    return String(text.dropFirst().dropLast())
  }

  private mutating func pop() -> String { stack.popLast() ?? "…" }

  private mutating func pop(_ count: Int) -> [String] {
    (0..<max(0, min(count, 64))).map { _ in pop() }.reversed()
  }

  private func name(_ list: [String], _ index: Int) -> String {
    list.indices.contains(index) ? list[index] : "?"
  }

  private func constant(_ index: Int) -> String {
    texts.indices.contains(index) ? texts[index] : "…"
  }

  private mutating func push(_ text: String) { stack.append(PythonText.short(text)) }

  private mutating func statement(_ operation: PythonOperation, at index: Int) {
    switch operation {
    case .pop:
      let value = pop()
      if value.hasSuffix(")") { lines.append(value) }
    case .rotate(let count):
      let top = pop()
      stack.insert(top, at: max(0, stack.count - count))
    case .copy(let place) where (1...max(1, stack.count)).contains(place) && !stack.isEmpty:
      push(stack[stack.count - place])
    case .swap(let place) where place > 1 && place <= stack.count:
      stack.swapAt(stack.count - 1, stack.count - place)
    case .constant(let index): push(constant(index))
    case .local(let index): push(name(code.variables, index))
    case .global(let index): push(name(code.names, index))
    case .attribute(let index), .method(let index), .importName(let index):
      push(pop() + "." + name(code.names, index))
    case .importModule(let index):
      _ = pop(2)
      push(name(code.names, index))
    case .enclosed(let index):
      let all = code.layout == .python311 ? code.variables : code.cells + code.free
      push(name(all, index))
    case .setLocal(let index):
      let variable = name(code.variables, index)
      if let last = lines.last, last.hasPrefix("for element in "), stack.last == "element" {
        lines[lines.count - 1] = "for \(variable)" + last.dropFirst(11)
        _ = pop()
      } else {
        lines.append("\(variable) = \(Self.bare(pop()))")
      }
    case .setEnclosed: lines.append("… = \(pop())")
    case .sign(let sign): push((sign == .negative ? "-" : sign == .positive ? "+" : "~") + pop())
    case .negation: push("not " + pop())
    case .binary(let function):
      let right = pop()
      push("(\(pop()) \(Self.symbol(function)) \(right))")
    case .contains(let negated):
      let right = pop()
      push("\(pop()) \(negated ? "not in" : "in") \(right)")
    case .identical(let negated):
      let right = pop()
      push("\(pop()) \(negated ? "is not" : "is") \(right)")
    case .subscripted:
      let index = Self.bare(pop())
      push("\(pop())[\(index)]")
    case .sliced:
      let bounds = pop(2)
      push("\(pop())[\(bounds[0]):\(bounds[1])]")
    case .tuple(let count): push("(" + pop(count).joined(separator: ", ") + ")")
    case .list(let count): push("[" + pop(count).joined(separator: ", ") + "]")
    case .append(let place): extend(place, by: pop())
    case .extend(let place): extend(place, by: String(pop().dropFirst().dropLast()))
    case .listToTuple: push("(" + pop().dropFirst().dropLast() + ")")
    case .expandedCall(let hasNames, _):
      let named = hasNames ? ", **" + pop() : ""
      let positional = pop()
      push("\(pop())(*\(positional)\(named))")
    case .slice(let count):
      push(pop(count).map { $0 == "None" ? "" : $0 }.joined(separator: ":"))
    case .unpack(let count):
      let value = pop()
      for index in (0..<max(0, min(count, 64))).reversed() { push("\(value)[\(index)]") }
    case .names(let index):
      names =
        constants.indices.contains(index)
        ? (constants[index]?.elements ?? []).map { $0.string ?? "?" } : []
    case .call(let count), .plainCall(let count): call(count)
    case .callWithNames(let count), .plainCallWithNames(let count):
      names = pop().filter { !"()'".contains($0) }.split(separator: ",").map {
        String($0.drop { $0 == " " })
      }
      call(count)
    case .classicCall(let count, let named):
      let pairs = pop(2 * named)
      names = stride(from: 0, to: pairs.count, by: 2).map { pairs[$0].filter { $0 != "'" } }
      for index in stride(from: 1, to: pairs.count, by: 2) { push(pairs[index]) }
      call(count + named)
    case .function(_, let isNamed):
      if isNamed { _ = pop() }
    case .branch(let test, let target, _):
      let value = pop()
      var condition = value
      switch test {
      case .truth(let jumps): if jumps { condition = "not " + value }
      case .none(let jumps): condition += jumps ? " is not None" : " is None"
      }
      open("if \(Self.bare(condition))", Self.bare(condition), target, index)
    case .next(let end):
      push("element")
      open("for element in \(stack.dropLast().last ?? "…")", "", end, index)
    case .result: lines.append("return " + Self.bare(pop()))
    case .constantResult(let index): lines.append("return " + constant(index))
    case .raise: lines.append("raise")
    default: break
    }
  }

  private mutating func open(_ text: String, _ condition: String, _ end: Int, _ index: Int) {
    lines.append(text + " {")
    guard end > index else { return lines.append("}") }
    ends.append(Block(end: end, condition: condition, height: stack.count, lineCount: lines.count))
  }

  private mutating func call(_ count: Int) {
    var arguments = pop(count)
    for (index, name) in zip(arguments.indices.suffix(names.count), names) {
      arguments[index] = "\(name)=\(arguments[index])"
    }
    names = []
    push("\(pop())(" + arguments.joined(separator: ", ") + ")")
  }

  /// Appends elements to the list at this position from the top.
  private mutating func extend(_ place: Int, by elements: String) {
    guard (1...max(1, stack.count)).contains(place), !stack.isEmpty else { return }
    let index = stack.count - place
    let list = stack[index]
    guard list.hasSuffix("]") else { return }
    stack[index] = PythonText.short(list.dropLast() + (list == "[]" ? "" : ", ") + elements + "]")
  }

  private static func symbol(_ function: PythonOperation.Operator) -> String {
    if function == .matrixProduct { return "@" }
    return ElementFunction.operators.first { $0.value.rawValue == function.rawValue }?.key ?? "/"
  }
}
