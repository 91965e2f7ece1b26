import Formulas

/// What an instruction does, whichever version of Python wrote it.
enum PythonOperation: Equatable, Sendable {
  enum Operator: Equatable, Sendable {
    case function(ElementFunction)
    /// Python 2's division: of whole numbers the whole part.
    case classicDivide
  }

  enum Sign: Sendable { case positive, negative, not }

  case nothing
  case pop
  /// The topmost value goes below so many others.
  case rotate(Int)
  /// The value at this place from the top, 1 being the topmost, once more.
  case copy(Int)
  case swap(Int)
  case null
  case constant(Int)
  case local(Int)
  case setLocal(Int)
  case global(Int)
  case attribute(Int)
  case method(Int)
  /// A variable of the function around this one.
  case enclosed(Int)
  case importModule(Int)
  case importName(Int)
  case sign(Sign)
  case binary(Operator)
  case subscripted
  /// Start and end, below them what is cut.
  case sliced
  /// `x[a:b]` of Python 2, with a start for odd numbers, an end for 2 and 3.
  case classicSlice(Int)
  case tuple(Int)
  case slice(Int)
  case unpack(Int)
  /// Arguments, below them the function and a null, in either order.
  case call(Int)
  /// The same with a tuple of names on top.
  case callWithNames(Int)
  /// The names of the next call's last arguments.
  case names(Int)
  /// Arguments, below them the function.
  case plainCall(Int)
  case plainCallWithNames(Int)
  /// Positional arguments, then pairs of names and values.
  case classicCall(Int, named: Int)
  case result
  case constantResult(Int)
}

/// Reads the instructions of a code object.
struct PythonInstructions {
  static let countLimit = 10_000

  /// - Returns: nil for bytes that are not this version's, or that do what no formula does.
  static func read(_ code: PythonCode, as version: PythonVersion) -> [PythonOperation]? {
    let bytes = code.code
    var operations: [PythonOperation] = []
    var position = 0
    var prefix = 0
    while position < bytes.count {
      guard operations.count < countLimit else { return nil }
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
      guard let (name, caches) = version.opcodes[opcode] else { return nil }
      argument |= prefix
      if name == "EXTENDED_ARG" {
        guard argument < 1 << 16 else { return nil }
        prefix = argument << (version.usesWords ? 8 : 16)
        continue
      }
      prefix = 0
      // Room for what the interpreter notes while it runs: empty in a file.
      for _ in 0..<caches {
        guard position + 1 < bytes.count, bytes[position] == 0, bytes[position + 1] == 0 else {
          return nil
        }
        position += 2
      }
      guard let parts = operation(name, argument, version) else { return nil }
      operations += parts
    }
    return prefix == 0 ? operations : nil
  }

  private static func operation(
    _ name: String, _ argument: Int, _ version: PythonVersion
  ) -> [PythonOperation]? {
    switch name {
    case "NOP", "RESUME", "PRECALL", "COPY_FREE_VARS": return [.nothing]
    case "POP_TOP": return [.pop]
    case "ROT_TWO": return [.rotate(1)]
    case "ROT_THREE": return [.rotate(2)]
    case "ROT_FOUR": return [.rotate(3)]
    case "DUP_TOP": return [.copy(1)]
    case "COPY": return [.copy(argument)]
    case "SWAP": return [.swap(argument)]
    case "PUSH_NULL": return [.null]
    case "LOAD_CONST": return [.constant(argument)]
    case "LOAD_FAST", "LOAD_FAST_CHECK": return [.local(argument)]
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
    case "IMPORT_NAME": return [.importModule(argument)]
    case "IMPORT_FROM": return [.importName(argument)]
    case "UNARY_POSITIVE": return [.sign(.positive)]
    // Of the functions that the interpreter has built in, the unary plus.
    case "CALL_INTRINSIC_1": return argument == 5 ? [.sign(.positive)] : nil
    case "UNARY_NEGATIVE": return [.sign(.negative)]
    case "UNARY_INVERT": return [.sign(.not)]
    case "BINARY_SUBSCR": return [.subscripted]
    case "BINARY_SLICE": return [.sliced]
    case "SLICE+0", "SLICE+1", "SLICE+2", "SLICE+3":
      return name.last?.wholeNumberValue.map { [.classicSlice($0)] }
    case "BUILD_TUPLE", "BUILD_LIST": return [.tuple(argument)]
    case "BUILD_SLICE": return [.slice(argument)]
    case "UNPACK_SEQUENCE": return [.unpack(argument)]
    case "COMPARE_OP":
      let index = argument >> version.comparisonShift
      return comparisons.indices.contains(index) ? [.binary(.function(comparisons[index]))] : nil
    case "BINARY_OP":
      return numbered[argument % 13].flatMap { argument < 26 ? [.binary(.function($0))] : nil }
    case "CALL", "CALL_METHOD": return [.call(argument)]
    case "CALL_KW": return [.callWithNames(argument)]
    case "KW_NAMES": return [.names(argument)]
    case "CALL_FUNCTION":
      return version.usesWords
        ? [.plainCall(argument)] : [.classicCall(argument & 0xFF, named: argument >> 8)]
    case "CALL_FUNCTION_KW": return [.plainCallWithNames(argument)]
    case "RETURN_VALUE": return [.result]
    case "RETURN_CONST": return [.constantResult(argument)]
    case "BINARY_DIVIDE", "INPLACE_DIVIDE": return [.binary(.classicDivide)]
    default:
      guard let cut = name.firstIndex(of: "_") else { return nil }
      return named[String(name[name.index(after: cut)...])].map { [.binary(.function($0))] }
    }
  }

  private static let comparisons: [ElementFunction] = [
    .less, .lessEqual, .equal, .notEqual, .greater, .greaterEqual,
  ]

  /// After `BINARY_` and `INPLACE_`.
  private static let named: [String: ElementFunction] = [
    "ADD": .add, "SUBTRACT": .subtract, "MULTIPLY": .multiply, "TRUE_DIVIDE": .divide,
    "FLOOR_DIVIDE": .floorDivide, "MODULO": .modulo, "POWER": .power, "AND": .logicalAnd,
    "OR": .logicalOr,
  ]

  /// Arguments of `BINARY_OP`; 13 more stand for the same in place.
  private static let numbered: [Int: ElementFunction] = [
    0: .add, 1: .logicalAnd, 2: .floorDivide, 5: .multiply, 6: .modulo, 7: .logicalOr, 8: .power,
    10: .subtract, 11: .divide,
  ]
}
