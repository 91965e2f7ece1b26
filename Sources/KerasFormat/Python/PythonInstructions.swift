/// What an instruction does, whichever version of Python wrote it.
package enum PythonOperation: Equatable, Sendable {
  package enum Operator: String, Sendable {
    case add, subtract, multiply, divide, floorDivide, modulo, power, logicalAnd, logicalOr
    case less, lessEqual, greater, greaterEqual, equal, notEqual
    /// Python 2's division: of whole numbers the whole part.
    case classicDivide
    case matrixProduct
  }

  package enum Sign: Sendable { case positive, negative, not }

  /// The condition of a jump.
  package enum Test: Equatable, Sendable {
    case truth(Bool)
    case none(Bool)
  }

  /// The optional parts of a function definition.
  package enum FunctionPart: Int, CaseIterable, Sendable {
    case defaults = 1
    case keywordDefaults = 2
    case annotations = 4
    case closure = 8
  }

  case nothing
  case pop
  /// Moves the topmost value below this many others.
  case rotate(Int)
  /// Pushes a copy of the value at this position from the top, counted from 1.
  case copy(Int)
  /// Pushes copies of this many topmost values.
  case copies(Int)
  case swap(Int)
  case null
  case constant(Int)
  case local(Int)
  case setLocal(Int)
  /// Pushes the value of a variable and clears the variable.
  case takeLocal(Int)
  case global(Int)
  case attribute(Int)
  case method(Int)
  /// A variable of the enclosing function, or one that inner functions use.
  case enclosed(Int)
  case setEnclosed(Int)
  case makeCell(Int)
  case cell(Int)
  case importModule(Int)
  case importName(Int)
  case sign(Sign)
  case negation
  case binary(Operator)
  case contains(negated: Bool)
  case identical(negated: Bool)
  case subscripted
  case setSubscripted
  /// Sets an element like `setSubscripted`, and then pushes the modified array or list.
  case replaceElement
  /// Slices a value; above it are the start and the end.
  case sliced
  /// `x[a:b]` in Python 2; 1 and 3 have a start, 2 and 3 an end.
  case classicSlice(Int)
  case tuple(Int)
  case list(Int)
  case listToTuple
  /// Pops a value and appends it to the list at this position.
  case append(Int)
  /// Pops a collection and appends its elements to the list at this position.
  case extend(Int)
  case dictionary(Int)
  case keyedDictionary(Int)
  case addPair
  /// Pops a dictionary and adds its members to the one at this position.
  case merge(Int)
  case text(Int)
  case slice(Int)
  case unpack(Int)
  /// Pops a name (up to 3.10), a code object, and the parts in this bit set; pushes the function.
  case function(parts: Int, isNamed: Bool)
  case addPart(Int)
  /// A function definition up to 3.5.
  case classicFunction(defaults: Int, hasClosure: Bool, isNamed: Bool)
  /// A call with arguments on top; below them are the function and a null, in either order.
  case call(Int)
  /// A call with a tuple of argument names on top.
  case callWithNames(Int)
  /// The names of the last arguments of the next call.
  case names(Int)
  /// A call with arguments on top and the function below them.
  case plainCall(Int)
  case plainCallWithNames(Int)
  /// A call with positional arguments, followed by pairs of names and values.
  case classicCall(Int, named: Int)
  /// A call with a tuple of positional arguments and, optionally, a dictionary of named ones.
  case expandedCall(hasNames: Bool, hasNull: Bool)
  /// A call with positional arguments, optionally followed by a list and a dictionary of more.
  case classicExpandedCall(Int, hasList: Bool, hasNames: Bool)
  case jump(Int)
  /// Jumps if the test succeeds; `keeps` then leaves the value on the stack.
  case branch(Test, Int, keeps: Bool)
  case iterate
  /// Pushes the next element of an iterator, or jumps after the last one.
  case next(Int)
  /// A loop; `breakLoop` jumps to its end.
  case loop(Int)
  case endLoop
  case breakLoop
  case raise
  // Operations of source files only.
  case setAttribute(Int)
  case setGlobal(Int)
  /// Defines an inner function; its defaults are below it, as a tuple and as a dictionary.
  case define(Int)
  /// The result of `super()` for the topmost value.
  case parent
  case refuse(String)
  case result
  case constantResult(Int)
  /// An instruction that no formula contains.
  case other(UInt8)

  /// The number of the operation that it may jump to.
  package fileprivate(set) var target: Int? {
    get {
      switch self {
      case .jump(let target), .branch(_, let target, _), .next(let target), .loop(let target):
        target
      default: nil
      }
    }
    set {
      guard let newValue else { return }
      switch self {
      case .jump: self = .jump(newValue)
      case .branch(let test, _, let keeps): self = .branch(test, newValue, keeps: keeps)
      case .next: self = .next(newValue)
      case .loop: self = .loop(newValue)
      default: break
      }
    }
  }
}

/// Reads the instructions of a code object.
package struct PythonInstructions {
  package static let countLimit = 10_000

  /// - Returns: nil for bytes that are not this version's.
  package static func read(_ code: PythonCode, as version: PythonVersion) -> [PythonOperation]? {
    let bytes = code.code
    var operations: [PythonOperation] = []
    /// The index of the operation that starts at each byte.
    var starts: [Int: Int] = [:]
    var position = 0
    var prefix = 0
    while position < bytes.count {
      guard operations.count < countLimit else { return nil }
      if prefix == 0 { starts[position] = operations.count }
      let opcode = bytes[position]
      var argument = 0
      if version.usesWords {
        guard position + 1 < bytes.count else { return nil }
        argument = Int(bytes[position + 1])
        position += 2
      } else if opcode >= PythonVersion.firstWithArgument {
        guard position + 2 < bytes.count else { return nil }
        argument = Int(bytes[position + 1]) | Int(bytes[position + 2]) << 8
        position += 3
      } else {
        position += 1
      }
      argument |= prefix
      guard let (name, caches) = version.opcodes[opcode] else {
        prefix = 0
        operations.append(.other(opcode))
        continue
      }
      if name == "EXTENDED_ARG" {
        guard argument < 1 << 16 else { return nil }
        prefix = argument << (version.usesWords ? 8 : 16)
        continue
      }
      prefix = 0
      // Inline caches, which are empty in files.
      for _ in 0..<caches {
        guard position + 1 < bytes.count, bytes[position] == 0, bytes[position + 1] == 0 else {
          return nil
        }
        position += 2
      }
      if let jump = jump(name, argument, position, version) {
        operations.append(jump)
        continue
      }
      guard let parts = operation(name, argument, version) else { return nil }
      operations += parts
    }
    guard prefix == 0 else { return nil }
    for index in operations.indices {
      guard let target = operations[index].target else { continue }
      guard let start = starts[target] else { return nil }
      operations[index].target = start
    }
    return operations
  }

  /// A jump instruction and its target byte; nil for other instructions.
  private static func jump(
    _ name: String, _ argument: Int, _ next: Int, _ version: PythonVersion
  ) -> PythonOperation? {
    let distance = argument * version.jumpUnit
    let forward = next + distance
    let absolute = version.jumpsRelatively ? forward : distance
    switch name {
    case "JUMP_FORWARD": return .jump(forward)
    case "JUMP_ABSOLUTE", "CONTINUE_LOOP": return .jump(distance)
    case "JUMP_BACKWARD": return .jump(next - distance)
    case "POP_JUMP_IF_FALSE": return .branch(.truth(false), absolute, keeps: false)
    case "POP_JUMP_IF_TRUE": return .branch(.truth(true), absolute, keeps: false)
    case "POP_JUMP_IF_NONE": return .branch(.none(true), absolute, keeps: false)
    case "POP_JUMP_IF_NOT_NONE": return .branch(.none(false), absolute, keeps: false)
    case "POP_JUMP_BACKWARD_IF_FALSE":
      return .branch(.truth(false), next - distance, keeps: false)
    case "POP_JUMP_BACKWARD_IF_TRUE": return .branch(.truth(true), next - distance, keeps: false)
    case "POP_JUMP_BACKWARD_IF_NONE": return .branch(.none(true), next - distance, keeps: false)
    case "POP_JUMP_BACKWARD_IF_NOT_NONE":
      return .branch(.none(false), next - distance, keeps: false)
    case "JUMP_IF_FALSE_OR_POP": return .branch(.truth(false), absolute, keeps: true)
    case "JUMP_IF_TRUE_OR_POP": return .branch(.truth(true), absolute, keeps: true)
    case "FOR_ITER": return .next(forward + version.loopTail)
    case "SETUP_LOOP": return .loop(forward)
    default: return nil
    }
  }

  private static func operation(
    _ name: String, _ argument: Int, _ version: PythonVersion
  ) -> [PythonOperation]? {
    switch name {
    case "NOP", "RESUME", "PRECALL", "COPY_FREE_VARS", "END_FOR", "TO_BOOL",
      "FORMAT_SIMPLE":
      return [.nothing]
    case "POP_TOP": return [.pop]
    case "ROT_TWO": return [.rotate(1)]
    case "ROT_THREE": return [.rotate(2)]
    case "ROT_FOUR": return [.rotate(3)]
    case "DUP_TOP": return [.copy(1)]
    case "DUP_TOP_TWO": return [.copies(2)]
    case "DUP_TOPX": return [.copies(argument)]
    case "COPY": return [.copy(argument)]
    case "SWAP": return [.swap(argument)]
    case "PUSH_NULL": return [.null]
    case "LOAD_CONST": return [.constant(argument)]
    case "LOAD_FAST", "LOAD_FAST_CHECK": return [.local(argument)]
    case "LOAD_FAST_AND_CLEAR": return [.takeLocal(argument)]
    case "STORE_FAST": return [.setLocal(argument)]
    case "LOAD_FAST_LOAD_FAST": return [.local(argument >> 4), .local(argument & 15)]
    case "STORE_FAST_LOAD_FAST": return [.setLocal(argument >> 4), .local(argument & 15)]
    case "STORE_FAST_STORE_FAST": return [.setLocal(argument >> 4), .setLocal(argument & 15)]
    case "LOAD_GLOBAL":
      guard version.marksGlobals else { return [.global(argument)] }
      let global = PythonOperation.global(argument >> 1)
      guard argument & 1 != 0 else { return [global] }
      return version.putsNullLast ? [global, .null] : [.null, global]
    case "LOAD_ATTR":
      guard version.marksMethods else { return [.attribute(argument)] }
      return [argument & 1 == 0 ? .attribute(argument >> 1) : .method(argument >> 1)]
    case "LOAD_METHOD": return [.method(argument)]
    case "LOAD_DEREF": return [.enclosed(argument)]
    case "STORE_DEREF": return [.setEnclosed(argument)]
    case "MAKE_CELL": return [.makeCell(argument)]
    case "LOAD_CLOSURE": return [.cell(argument)]
    case "IMPORT_NAME": return [.importModule(argument)]
    case "IMPORT_FROM": return [.importName(argument)]
    case "UNARY_POSITIVE": return [.sign(.positive)]
    // Of Python's intrinsic functions, only unary plus and `(*x,)` are known.
    case "CALL_INTRINSIC_1":
      return argument == 5 ? [.sign(.positive)] : argument == 6 ? [.listToTuple] : [.other(0)]
    case "UNARY_NEGATIVE": return [.sign(.negative)]
    case "UNARY_INVERT": return [.sign(.not)]
    case "BINARY_SUBSCR": return [.subscripted]
    case "BINARY_SLICE": return [.sliced]
    case "SLICE+0", "SLICE+1", "SLICE+2", "SLICE+3":
      return name.last?.wholeNumberValue.map { [.classicSlice($0)] }
    case "UNARY_NOT": return [.negation]
    case "CONTAINS_OP": return [.contains(negated: argument == 1)]
    case "IS_OP": return [.identical(negated: argument == 1)]
    case "STORE_SUBSCR": return [.setSubscripted]
    case "BUILD_TUPLE": return [.tuple(argument)]
    case "BUILD_LIST": return [.list(argument)]
    case "LIST_TO_TUPLE": return [.listToTuple]
    case "LIST_APPEND": return [.append(argument)]
    case "LIST_EXTEND": return [.extend(argument)]
    case "BUILD_MAP": return [.dictionary(version.usesWords ? argument : 0)]
    case "STORE_MAP": return [.addPair]
    case "BUILD_CONST_KEY_MAP": return [.keyedDictionary(argument)]
    case "FORMAT_VALUE": return argument & 4 != 0 ? [.pop] : [.nothing]
    case "BUILD_STRING": return [.text(argument)]
    case "GET_ITER": return [.iterate]
    case "POP_BLOCK": return [.endLoop]
    case "BREAK_LOOP": return [.breakLoop]
    case "RAISE_VARARGS", "LOAD_ASSERTION_ERROR": return [.raise]
    case "MAKE_FUNCTION", "MAKE_CLOSURE":
      if version.usesWords {
        return [
          .function(
            parts: version.jumpsRelatively && version.loopTail == 4 ? 0 : argument,
            isNamed: !version.jumpsRelatively)
        ]
      }
      guard argument < 1 << 8 else { return [.other(0)] }
      return [
        .classicFunction(
          defaults: argument, hasClosure: name == "MAKE_CLOSURE",
          isNamed: !version.layouts.contains(.python2))
      ]
    case "SET_FUNCTION_ATTRIBUTE": return [.addPart(argument)]
    case "CALL_FUNCTION_EX":
      return [.expandedCall(hasNames: argument & 1 == 1, hasNull: version.jumpsRelatively)]
    case "CALL_FUNCTION_VAR", "CALL_FUNCTION_VAR_KW":
      return classicExpansion(argument, hasList: true, hasNames: name.hasSuffix("KW"))
    case "BUILD_SLICE": return [.slice(argument)]
    case "UNPACK_SEQUENCE": return [.unpack(argument)]
    case "COMPARE_OP":
      let index = argument >> version.comparisonShift
      if !version.jumpsRelatively, (6...9).contains(index) {
        return [index < 8 ? .contains(negated: index == 7) : .identical(negated: index == 9)]
      }
      return comparisons.indices.contains(index) ? [.binary(comparisons[index])] : nil
    case "BINARY_OP":
      if argument == 4 { return [.binary(.matrixProduct)] }
      return numbered[argument % 13].flatMap { argument < 26 ? [.binary($0)] : nil }
    case "CALL", "CALL_METHOD": return [.call(argument)]
    case "CALL_KW": return [.callWithNames(argument)]
    case "KW_NAMES": return [.names(argument)]
    case "CALL_FUNCTION":
      return version.usesWords
        ? [.plainCall(argument)] : [.classicCall(argument & 0xFF, named: argument >> 8)]
    case "CALL_FUNCTION_KW" where !version.usesWords:
      return classicExpansion(argument, hasList: false, hasNames: true)
    case "DICT_MERGE", "DICT_UPDATE": return [.merge(argument)]
    case "CALL_FUNCTION_KW": return [.plainCallWithNames(argument)]
    case "RETURN_VALUE": return [.result]
    case "RETURN_CONST": return [.constantResult(argument)]
    case "BINARY_MATRIX_MULTIPLY": return [.binary(.matrixProduct)]
    case "BINARY_DIVIDE", "INPLACE_DIVIDE": return [.binary(.classicDivide)]
    default:
      guard let cut = name.firstIndex(of: "_") else { return nil }
      return named[String(name[name.index(after: cut)...])].map { [.binary($0)] }
    }
  }

  /// `f(a, *b, c=d, **e)` up to 3.5, without names before the dictionary.
  private static func classicExpansion(
    _ argument: Int, hasList: Bool, hasNames: Bool
  ) -> [PythonOperation] {
    argument < 1 << 8
      ? [.classicExpandedCall(argument, hasList: hasList, hasNames: hasNames)] : [.other(0)]
  }

  private static let comparisons: [PythonOperation.Operator] = [
    .less, .lessEqual, .equal, .notEqual, .greater, .greaterEqual,
  ]

  /// After `BINARY_` and `INPLACE_`.
  private static let named: [String: PythonOperation.Operator] = [
    "ADD": .add, "SUBTRACT": .subtract, "MULTIPLY": .multiply, "TRUE_DIVIDE": .divide,
    "FLOOR_DIVIDE": .floorDivide, "MODULO": .modulo, "POWER": .power, "AND": .logicalAnd,
    "OR": .logicalOr,
  ]

  /// Arguments of `BINARY_OP`; 13 more stand for the same in place.
  private static let numbered: [Int: PythonOperation.Operator] = [
    0: .add, 1: .logicalAnd, 2: .floorDivide, 5: .multiply, 6: .modulo, 7: .logicalOr, 8: .power,
    10: .subtract, 11: .divide,
  ]
}
