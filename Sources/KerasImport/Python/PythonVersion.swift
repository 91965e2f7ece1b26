/// Versions of Python whose instructions have the same numbers.
///
/// Source: the `dis` and `opcode` modules of each version.
struct PythonVersion: Sendable {
  let name: String
  let layouts: Set<PythonMarshal.CodeLayout>
  /// Instructions of two bytes each, since 3.6; else of one, or of three with an argument.
  let usesWords: Bool
  /// By number, with the count of empty words that follow.
  let opcodes: [UInt8: (name: String, caches: Int)]
  /// Whether the lowest bit of LOAD_GLOBAL's argument asks for a null.
  var marksGlobals = false
  var putsNullLast = false
  /// Whether the lowest bit of LOAD_ATTR's argument asks for a method.
  var marksMethods = false
  var comparisonShift = 0

  static let firstWithArgument: UInt8 = 90

  private init(
    _ name: String, _ layouts: Set<PythonMarshal.CodeLayout>, usesWords: Bool = true,
    _ tables: String...
  ) {
    self.name = name
    self.layouts = layouts
    self.usesWords = usesWords
    var opcodes: [UInt8: (name: String, caches: Int)] = [:]
    for entry in tables.joined(separator: ",").split(separator: ",") {
      let words = entry.split(whereSeparator: { " \n/".contains($0) })
      guard words.count >= 2, let number = UInt8(words[1]) else { continue }
      opcodes[number] = (String(words[0]), words.count > 2 ? Int(words[2]) ?? 0 : 0)
    }
    self.opcodes = opcodes
  }

  /// Numbers that hold from 2.7 to 3.10.
  private static let common = """
    POP_TOP 1, ROT_TWO 2, ROT_THREE 3, DUP_TOP 4, NOP 9, UNARY_POSITIVE 10, UNARY_NEGATIVE 11,
    UNARY_INVERT 15, BINARY_POWER 19, BINARY_MULTIPLY 20, BINARY_MODULO 22, BINARY_ADD 23,
    BINARY_SUBTRACT 24, BINARY_SUBSCR 25, BINARY_FLOOR_DIVIDE 26, BINARY_TRUE_DIVIDE 27,
    INPLACE_FLOOR_DIVIDE 28, INPLACE_TRUE_DIVIDE 29, INPLACE_ADD 55, INPLACE_SUBTRACT 56,
    INPLACE_MULTIPLY 57, INPLACE_MODULO 59, BINARY_AND 64, BINARY_OR 66, INPLACE_POWER 67,
    RETURN_VALUE 83, UNPACK_SEQUENCE 92, LOAD_CONST 100, BUILD_TUPLE 102, BUILD_LIST 103,
    LOAD_ATTR 106, COMPARE_OP 107, IMPORT_NAME 108, IMPORT_FROM 109, LOAD_GLOBAL 116,
    LOAD_FAST 124, STORE_FAST 125, CALL_FUNCTION 131, BUILD_SLICE 133, LOAD_DEREF 136
    """

  private static let python27 = PythonVersion(
    "2.7", [.python2], usesWords: false, common,
    """
    ROT_FOUR 5, BINARY_DIVIDE 21, SLICE+0 30, SLICE+1 31, SLICE+2 32, SLICE+3 33,
    INPLACE_DIVIDE 58, EXTENDED_ARG 145
    """)

  private static let python34 = PythonVersion(
    "3.4", [.python3], usesWords: false, common, "EXTENDED_ARG 144")

  private static let python36 = PythonVersion(
    "3.6", [.python3, .python38], common,
    "ROT_FOUR 6, CALL_FUNCTION_KW 141, EXTENDED_ARG 144, LOAD_METHOD 160, CALL_METHOD 161")

  /// Numbers that hold for 3.11 and 3.12.
  private static let words = """
    POP_TOP 1, PUSH_NULL 2, NOP 9, UNARY_NEGATIVE 11, UNARY_INVERT 15, RETURN_VALUE 83,
    UNPACK_SEQUENCE 92/1, SWAP 99, LOAD_CONST 100, BUILD_TUPLE 102, BUILD_LIST 103,
    IMPORT_NAME 108, IMPORT_FROM 109, COPY 120, BINARY_OP 122/1, LOAD_FAST 124, STORE_FAST 125,
    BUILD_SLICE 133, LOAD_DEREF 137, EXTENDED_ARG 144, COPY_FREE_VARS 149, RESUME 151,
    KW_NAMES 172
    """

  private static let python311: PythonVersion = {
    var version = PythonVersion(
      "3.11", [.python311], words,
      """
      UNARY_POSITIVE 10, BINARY_SUBSCR 25/4, LOAD_ATTR 106/4, COMPARE_OP 107/2,
      LOAD_GLOBAL 116/5, LOAD_METHOD 160/10, PRECALL 166/1, CALL 171/4
      """)
    version.marksGlobals = true
    return version
  }()

  private static let python312: PythonVersion = {
    var version = PythonVersion(
      "3.12", [.python311], words,
      """
      BINARY_SUBSCR 25/1, BINARY_SLICE 26, LOAD_ATTR 106/9, COMPARE_OP 107/1, LOAD_GLOBAL 116/4,
      RETURN_CONST 121, LOAD_FAST_CHECK 127, CALL 171/3, CALL_INTRINSIC_1 173
      """)
    version.marksGlobals = true
    version.marksMethods = true
    version.comparisonShift = 4
    return version
  }()

  private static let python313: PythonVersion = {
    var version = PythonVersion(
      "3.13", [.python311],
      """
      BINARY_SLICE 4, BINARY_SUBSCR 5/1, NOP 30, POP_TOP 32, PUSH_NULL 34, RETURN_VALUE 36,
      UNARY_INVERT 41, UNARY_NEGATIVE 42, BINARY_OP 45/1, BUILD_LIST 47, BUILD_SLICE 50,
      BUILD_TUPLE 52, CALL 53/3, CALL_INTRINSIC_1 55, CALL_KW 57, COMPARE_OP 58/1, COPY 61, COPY_FREE_VARS 62,
      EXTENDED_ARG 71, IMPORT_FROM 74, IMPORT_NAME 75, LOAD_ATTR 82/9, LOAD_CONST 83,
      LOAD_DEREF 84, LOAD_FAST 85, LOAD_FAST_CHECK 87, LOAD_FAST_LOAD_FAST 88, LOAD_GLOBAL 91/4,
      RETURN_CONST 103, STORE_FAST 110, STORE_FAST_LOAD_FAST 111, STORE_FAST_STORE_FAST 112,
      SWAP 115, UNPACK_SEQUENCE 117/1, RESUME 149
      """)
    version.marksGlobals = true
    version.putsNullLast = true
    version.marksMethods = true
    version.comparisonShift = 5
    return version
  }()

  static let all = [python27, python34, python36, python311, python312, python313]
}
