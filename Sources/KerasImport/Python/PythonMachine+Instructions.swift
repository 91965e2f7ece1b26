import Formulas
import TensorCore

extension PythonMachine {
  /// Performs one instruction other than a return.
  func perform(_ operation: PythonOperation, _ frame: inout Frame) throws {
    switch operation {
    case .nothing: break
    case .pop: _ = try frame.pop()
    case .rotate(let count):
      let top = try frame.pop()
      guard count <= frame.stack.count else { throw Self.malformed }
      frame.stack.insert(top, at: frame.stack.count - count)
    case .copy(let position):
      guard position > 0, position <= frame.stack.count else { throw Self.malformed }
      try frame.push(frame.stack[frame.stack.count - position])
    case .copies(let count):
      let top = try frame.pop(count)
      for symbol in top + top { try frame.push(symbol) }
    case .swap(let position):
      guard position > 1, position <= frame.stack.count else { throw Self.malformed }
      frame.stack.swapAt(frame.stack.count - 1, frame.stack.count - position)
    case .null: try frame.push(.null)
    case .constant(let index): try frame.push(frame.constant(index))
    case .local(let index):
      let name = try frame.variable(index)
      if let value = frame.locals[index] ?? frame.cells[name].map({ .cell($0) }) {
        try frame.push(value)
      } else {
        throw Self.unsupported("the value of '\(name)' is unknown")
      }
    case .setLocal(let index):
      _ = try frame.variable(index)
      let value = try frame.pop()
      frame.locals[index] = value.isNull ? nil : try settled(value)
    case .takeLocal(let index):
      _ = try frame.variable(index)
      try frame.push(frame.locals[index] ?? .null)
      frame.locals[index] = nil
    case .enclosed(let index):
      let (name, cell) = try frame.cell(index)
      guard let value = cell.value else {
        throw Self.unsupported("the value of '\(name)' is unknown")
      }
      try frame.push(value)
    case .setEnclosed(let index): try frame.cell(index).cell.value = settled(frame.pop())
    case .makeCell(let index):
      let name = try frame.variable(index)
      frame.cells[name] = PythonCell(frame.locals[index])
      frame.locals[index] = nil
    case .cell(let index): try frame.push(.cell(frame.cell(index).cell))
    case .global(let index):
      let name = try frame.name(index)
      let own = try frame.function.scope?.value(name, self)
      try frame.push(own ?? global(name, frame.code.layout))
    case .attribute(let index):
      try frame.push(attribute(frame.name(index), of: frame.pop()))
    case .method(let index):
      let function = try attribute(frame.name(index), of: frame.pop())
      try frame.push(.null)
      try frame.push(function)
    case .importModule(let index):
      let list = try frame.pop()
      _ = try frame.pop()
      let path = try frame.name(index)
      let top = path.split(separator: ".").first.map(String.init) ?? path
      try frame.push(.library(PythonLibraries.path(list.isNone ? top : path)))
    case .importName(let index):
      guard case .library(let path)? = frame.stack.last else { throw Self.malformed }
      try frame.push(.library(PythonLibraries.path(path + "." + frame.name(index))))
    case .sign, .negation, .binary, .contains, .identical, .subscripted, .setSubscripted,
      .replaceElement, .sliced,
      .classicSlice:
      try calculate(operation, &frame)
    case .tuple, .list, .listToTuple, .append, .extend, .dictionary, .keyedDictionary, .addPair,
      .merge, .text, .slice, .unpack:
      try bundle(operation, &frame)
    case .function, .addPart, .classicFunction, .define: try define(operation, &frame)
    case .setGlobal(let index):
      try frame.function.scope?.assign(frame.name(index), settled(frame.pop()))
    case .setAttribute(let index):
      let object = try frame.pop()
      try set(frame.name(index), of: object, to: frame.pop())
    case .parent:
      guard case .object(let object) = try frame.pop(), let owner = frame.function.owner else {
        throw Self.unsupported("it calls super() in an unknown place")
      }
      try frame.push(.parent(object, owner))
    case .refuse(let reason): throw Self.unsupported(reason)
    case .names, .call, .callWithNames, .plainCall, .plainCallWithNames, .classicCall,
      .expandedCall, .classicExpandedCall:
      try call(operation, &frame)
    case .jump(let target): frame.next = target
    case .branch(let test, let target, let keeps):
      let value = try frame.pop()
      let holds =
        switch test {
        case .truth(let wanted): try truth(value) == wanted
        case .none(let wanted): value.isNone == wanted
        }
      guard holds else { break }
      if keeps { try frame.push(value) }
      frame.next = target
    case .iterate:
      let value = try frame.pop()
      if case .iterator = value {
        try frame.push(value)
      } else {
        try frame.push(.iterator(PythonIterator(elements(value))))
      }
    case .next(let end):
      guard case .iterator(let iterator)? = frame.stack.last else { throw Self.malformed }
      if let element = iterator.next() {
        try frame.push(element)
      } else {
        _ = try frame.pop()
        frame.next = end
      }
    case .loop(let end): frame.loops.append((end, frame.stack.count))
    case .endLoop: _ = frame.loops.popLast()
    case .breakLoop:
      guard let (end, height) = frame.loops.popLast(), height <= frame.stack.count else {
        throw Self.malformed
      }
      frame.stack.removeLast(frame.stack.count - height)
      frame.next = end
    case .raise:
      throw Self.unsupported(Self.raised + (frame.stack.last?.string.map { ": \($0)" } ?? ""))
    case .other(let number): throw Self.unsupported("it uses the instruction \(number)")
    case .result, .constantResult: throw Self.malformed
    }
  }

  private func global(_ name: String, _ layout: PythonMarshal.CodeLayout) throws -> PythonSymbol {
    if layout == .python2, name == "True" || name == "False" { return .bool(name == "True") }
    guard let path = PythonLibraries.global(name) else {
      throw ModelError(
        .unsupported, "it uses '\(name)', defined outside it",
        hint: "a rule with the formula and its values in place of the class, as in "
          + #""expression": "x / 127.5 - 1", converts it"#)
    }
    return .library(path)
  }

  private func bundle(_ operation: PythonOperation, _ frame: inout Frame) throws {
    switch operation {
    case .tuple(let count): try frame.push(.tuple(frame.pop(count)))
    case .list(let count): try frame.push(.list(PythonList(frame.pop(count))))
    case .listToTuple: try frame.push(.tuple(elements(frame.pop())))
    case .append(let position):
      let value = try frame.pop()
      let list = try frame.list(position)
      list.elements = try bounded(list.elements + [value])
    case .extend(let position):
      let more = try elements(frame.pop())
      let list = try frame.list(position)
      list.elements = try bounded(list.elements + more)
    case .dictionary(let count):
      let parts = try frame.pop(2 * count)
      try frame.push(
        .dictionary(
          PythonDictionary(
            try stride(from: 0, to: parts.count, by: 2).map {
              (try PythonDictionary.key(parts[$0]), parts[$0 + 1])
            })))
    case .keyedDictionary(let count):
      let keys = try frame.pop().elements ?? []
      let values = try frame.pop(count)
      guard keys.count == count else { throw Self.malformed }
      try frame.push(
        .dictionary(
          PythonDictionary(try zip(keys, values).map { (try PythonDictionary.key($0), $1) })))
    case .addPair:
      let key = try frame.pop()
      let value = try frame.pop()
      let whole = try frame.pop()
      guard case .dictionary(let members) = whole, members.members.count < Self.listLimit else {
        throw Self.malformed
      }
      members[try PythonDictionary.key(key)] = value
      try frame.push(whole)
    case .merge(let position):
      guard case .dictionary(let more) = try frame.pop(), position > 0,
        position <= frame.stack.count,
        case .dictionary(let members) = frame.stack[frame.stack.count - position],
        members.members.count + more.members.count <= Self.listLimit
      else { throw Self.malformed }
      for (key, value) in more.members { members[key] = value }
    case .text(let count):
      let parts = try frame.pop(count).map(\.plainText)
      try frame.push(.string(String(parts.joined().prefix(256))))
    case .slice(let count):
      guard count == 2 || count == 3 else { throw Self.malformed }
      let bounds = try frame.pop(count)
      try frame.push(.slice(bounds[0], bounds[1], count == 3 ? bounds[2] : .none))
    case .unpack(let count):
      let value = try frame.pop()
      if case .transposed(let expression, let axes) = value, let axis = axes.first,
        try sizes(of: expression, "shape")[axis].known == count
      {
        for index in (0..<count).reversed() { try frame.push(element(.int(index), of: value)) }
        break
      }
      guard let elements = value.elements, elements.count == count else {
        throw Self.unsupported("it unpacks a tensor")
      }
      for element in elements.reversed() { try frame.push(element) }
    default: throw Self.malformed
    }
  }

  // MARK: Functions

  private func define(_ operation: PythonOperation, _ frame: inout Frame) throws {
    func made(_ symbol: PythonSymbol) throws -> PythonFunction {
      guard case .code(let code) = symbol,
        let version = frame.function.version,
        let operations = PythonInstructions.read(code, as: version)
      else { throw Self.unsupported("it defines a function that cannot be read") }
      return PythonFunction(code: code, operations: operations, version: version)
    }
    func add(
      _ part: PythonOperation.FunctionPart, _ value: PythonSymbol, _ made: inout PythonFunction
    ) {
      switch part {
      case .annotations: break
      case .defaults: made.defaults = value.elements ?? []
      case .keywordDefaults:
        if case .dictionary(let members) = value {
          for (name, value) in members.members { made.keywordDefaults[name] = value }
        }
      case .closure:
        made.closure = (value.elements ?? []).map {
          if case .cell(let cell) = $0 { cell } else { PythonCell(nil) }
        }
      }
    }
    switch operation {
    case .define(let index):
      var function = frame.function.inner[index]
      add(.keywordDefaults, try frame.pop(), &function)
      add(.defaults, try frame.pop(), &function)
      function.closure = try function.code.free.map { name in
        guard let cell = frame.cells[name] else { throw Self.malformed }
        return cell
      }
      (function.scope, function.owner) = (frame.function.scope, frame.function.owner)
      try frame.push(.function(function))
    case .function(let parts, let isNamed):
      if isNamed { _ = try frame.pop() }
      var function = try made(frame.pop())
      for part in PythonOperation.FunctionPart.allCases.reversed()
      where parts & part.rawValue != 0 {
        add(part, try frame.pop(), &function)
      }
      try frame.push(.function(function))
    case .classicFunction(let count, let hasClosure, let isNamed):
      if isNamed { _ = try frame.pop() }
      var function = try made(frame.pop())
      if hasClosure { add(.closure, try frame.pop(), &function) }
      function.defaults = try frame.pop(count)
      try frame.push(.function(function))
    case .addPart(let number):
      guard case .function(var function) = try frame.pop(),
        let part = PythonOperation.FunctionPart(rawValue: number)
      else { throw Self.malformed }
      add(part, try frame.pop(), &function)
      try frame.push(.function(function))
    default: throw Self.malformed
    }
  }

  private func call(_ operation: PythonOperation, _ frame: inout Frame) throws {
    func texts(_ symbols: [PythonSymbol]) throws -> [String] {
      try symbols.map {
        guard let text = $0.string else { throw Self.malformed }
        return text
      }
    }
    func names(_ symbol: PythonSymbol) throws -> [String] {
      guard case .tuple(let elements) = symbol else { throw Self.malformed }
      return try texts(elements)
    }
    /// The function, and the first argument if it lies between the function and the others.
    func function(hasNull: Bool) throws -> (function: PythonSymbol, first: [PythonSymbol]) {
      let top = try frame.pop()
      guard hasNull else { return (top, []) }
      let below = try frame.pop()
      if below.isNull { return (top, []) }
      return (below, top.isNull ? [] : [top])
    }
    func finish(_ count: Int, hasNull: Bool) throws {
      let arguments = try frame.pop(count)
      guard frame.names.count <= arguments.count else { throw Self.malformed }
      let keywords = zip(frame.names, arguments.suffix(frame.names.count)).map {
        (name: $0, value: $1)
      }
      let positional = Array(arguments.dropLast(frame.names.count))
      frame.names = []
      let (function, first) = try function(hasNull: hasNull)
      try frame.push(call(function, first + positional, keywords))
    }
    switch operation {
    case .names(let index): frame.names = try names(frame.constant(index))
    case .call(let count): try finish(count, hasNull: true)
    case .callWithNames(let count):
      frame.names = try names(frame.pop())
      try finish(count, hasNull: true)
    case .plainCall(let count): try finish(count, hasNull: false)
    case .plainCallWithNames(let count):
      frame.names = try names(frame.pop())
      try finish(count, hasNull: false)
    case .classicCall(let count, let named):
      let pairs = try frame.pop(2 * named)
      frame.names = try texts(stride(from: 0, to: pairs.count, by: 2).map { pairs[$0] })
      for index in stride(from: 1, to: pairs.count, by: 2) { try frame.push(pairs[index]) }
      try finish(count + named, hasNull: false)
    case .expandedCall(let hasNames, let hasNull):
      var keywords: [(name: String, value: PythonSymbol)] = []
      if hasNames {
        guard case .dictionary(let members) = try frame.pop() else { throw Self.malformed }
        keywords = members.members.map { ($0.key, $0.value) }
      }
      let positional = try elements(frame.pop())
      try frame.push(call(function(hasNull: hasNull).function, positional, keywords))
    case .classicExpandedCall(let count, let hasList, let hasNames):
      var keywords: [(name: String, value: PythonSymbol)] = []
      if hasNames, case .dictionary(let members) = try frame.pop() {
        keywords = members.members.map { ($0.key, $0.value) }
      }
      let more = hasList ? try elements(frame.pop()) : []
      let positional = try frame.pop(count) + more
      try frame.push(call(frame.pop(), positional, keywords))
    default: throw Self.malformed
    }
  }
}
