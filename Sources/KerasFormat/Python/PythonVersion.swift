/// Python versions that number their instructions in the same way.
///
/// Source: the `dis` and `opcode` modules of each version.
package struct PythonVersion: Sendable {
  package let name: String
  package let layouts: Set<PythonMarshal.CodeLayout>
  /// Instructions of two bytes each, since 3.6; else of one, or of three with an argument.
  package let usesWords: Bool
  /// By number, with the count of empty words that follow.
  package let opcodes: [UInt8: (name: String, caches: Int)]
  /// Whether the lowest bit of LOAD_GLOBAL's argument asks for a null.
  package var marksGlobals = false
  package var putsNullLast = false
  /// Whether the lowest bit of LOAD_ATTR's argument asks for a method.
  package var marksMethods = false
  package var comparisonShift = 0
  /// Bytes that a jump's argument counts in.
  package var jumpUnit = 1
  /// Whether all jumps are relative.
  package var jumpsRelatively = false
  /// Bytes after the target of a finished loop that belong to the loop: END_FOR, in 3.13 POP_TOP.
  package var loopTail = 0

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

  /// Numbers that 2.7 to 3.10 share.
  private static let common = """
    POP_TOP 1, ROT_TWO 2, ROT_THREE 3, DUP_TOP 4, NOP 9, UNARY_POSITIVE 10, UNARY_NEGATIVE 11,
    UNARY_INVERT 15, BINARY_POWER 19, BINARY_MULTIPLY 20, BINARY_MODULO 22, BINARY_ADD 23,
    BINARY_SUBTRACT 24, BINARY_SUBSCR 25, BINARY_FLOOR_DIVIDE 26, BINARY_TRUE_DIVIDE 27,
    INPLACE_FLOOR_DIVIDE 28, INPLACE_TRUE_DIVIDE 29, INPLACE_ADD 55, INPLACE_SUBTRACT 56,
    INPLACE_MULTIPLY 57, INPLACE_MODULO 59, BINARY_AND 64, BINARY_OR 66, INPLACE_POWER 67,
    RETURN_VALUE 83, UNPACK_SEQUENCE 92, LOAD_CONST 100, BUILD_TUPLE 102, BUILD_LIST 103,
    LOAD_ATTR 106, COMPARE_OP 107, IMPORT_NAME 108, IMPORT_FROM 109, LOAD_GLOBAL 116,
    LOAD_FAST 124, STORE_FAST 125, CALL_FUNCTION 131, BUILD_SLICE 133, LOAD_DEREF 136,
    UNARY_NOT 12, STORE_SUBSCR 60, GET_ITER 68, POP_BLOCK 87, FOR_ITER 93, BUILD_MAP 105,
    JUMP_FORWARD 110, JUMP_IF_FALSE_OR_POP 111, JUMP_IF_TRUE_OR_POP 112, JUMP_ABSOLUTE 113,
    POP_JUMP_IF_FALSE 114, POP_JUMP_IF_TRUE 115, RAISE_VARARGS 130, MAKE_FUNCTION 132,
    LOAD_CLOSURE 135, STORE_DEREF 137
    """

  /// Loop instructions up to 3.7.
  private static let blocks = "BREAK_LOOP 80, CONTINUE_LOOP 119, SETUP_LOOP 120"

  private static let python27 = PythonVersion(
    "2.7", [.python2], usesWords: false, common, blocks,
    """
    ROT_FOUR 5, STORE_MAP 54, LIST_APPEND 94, DUP_TOPX 99, MAKE_CLOSURE 134,
    CALL_FUNCTION_VAR 140, CALL_FUNCTION_KW 141, CALL_FUNCTION_VAR_KW 142, BINARY_DIVIDE 21, SLICE+0 30, SLICE+1 31, SLICE+2 32, SLICE+3 33,
    INPLACE_DIVIDE 58, EXTENDED_ARG 145
    """)

  private static let python34 = PythonVersion(
    "3.4", [.python3], usesWords: false, common, blocks,
    """
    DUP_TOP_TWO 5, BINARY_MATRIX_MULTIPLY 16, MAKE_CLOSURE 134, CALL_FUNCTION_VAR 140,
    CALL_FUNCTION_KW 141, CALL_FUNCTION_VAR_KW 142, EXTENDED_ARG 144, LIST_APPEND 145
    """)

  /// Numbers that 3.6 to 3.10 share.
  private static let pairs = """
    DUP_TOP_TWO 5, ROT_FOUR 6, BINARY_MATRIX_MULTIPLY 16, CALL_FUNCTION_KW 141,
    CALL_FUNCTION_EX 142, EXTENDED_ARG 144, LIST_APPEND 145, FORMAT_VALUE 155,
    BUILD_CONST_KEY_MAP 156, BUILD_STRING 157, LOAD_METHOD 160, CALL_METHOD 161
    """

  /// Numbers introduced in 3.9.
  private static let tests = """
    LOAD_ASSERTION_ERROR 74, LIST_TO_TUPLE 82, IS_OP 117, CONTAINS_OP 118, LIST_EXTEND 162,
    DICT_MERGE 164, DICT_UPDATE 165
    """

  private static let python36 = PythonVersion("3.6", [.python3], common, blocks, pairs)

  private static let python38 = PythonVersion("3.8", [.python38], common, pairs, tests)

  private static let python310: PythonVersion = {
    var version = PythonVersion("3.10", [.python38], common, pairs, tests)
    version.jumpUnit = 2
    return version
  }()

  /// Numbers that 3.11 and 3.12 share.
  private static let words = """
    POP_TOP 1, PUSH_NULL 2, NOP 9, UNARY_NEGATIVE 11, UNARY_INVERT 15, RETURN_VALUE 83,
    UNPACK_SEQUENCE 92/1, SWAP 99, LOAD_CONST 100, BUILD_TUPLE 102, BUILD_LIST 103,
    IMPORT_NAME 108, IMPORT_FROM 109, COPY 120, BINARY_OP 122/1, LOAD_FAST 124, STORE_FAST 125,
    BUILD_SLICE 133, LOAD_DEREF 137, EXTENDED_ARG 144, COPY_FREE_VARS 149, RESUME 151,
    KW_NAMES 172, UNARY_NOT 12, STORE_SUBSCR 60/1, GET_ITER 68, LOAD_ASSERTION_ERROR 74,
    BUILD_MAP 105, JUMP_FORWARD 110, POP_JUMP_IF_FALSE 114, POP_JUMP_IF_TRUE 115, IS_OP 117,
    CONTAINS_OP 118, RAISE_VARARGS 130, MAKE_FUNCTION 132, MAKE_CELL 135, LOAD_CLOSURE 136,
    STORE_DEREF 138, JUMP_BACKWARD 140, CALL_FUNCTION_EX 142, LIST_APPEND 145, FORMAT_VALUE 155,
    BUILD_CONST_KEY_MAP 156, BUILD_STRING 157, LIST_EXTEND 162, DICT_MERGE 164,
    DICT_UPDATE 165, POP_JUMP_IF_NOT_NONE 128,
    POP_JUMP_IF_NONE 129
    """

  private static let python311: PythonVersion = {
    var version = PythonVersion(
      "3.11", [.python311], words,
      """
      UNARY_POSITIVE 10, BINARY_SUBSCR 25/4, LOAD_ATTR 106/4, COMPARE_OP 107/2,
      LOAD_GLOBAL 116/5, LOAD_METHOD 160/10, PRECALL 166/1, CALL 171/4, LIST_TO_TUPLE 82,
      FOR_ITER 93, JUMP_IF_FALSE_OR_POP 111, JUMP_IF_TRUE_OR_POP 112,
      POP_JUMP_BACKWARD_IF_NOT_NONE 173, POP_JUMP_BACKWARD_IF_NONE 174,
      POP_JUMP_BACKWARD_IF_FALSE 175, POP_JUMP_BACKWARD_IF_TRUE 176
      """)
    version.marksGlobals = true
    (version.jumpUnit, version.jumpsRelatively) = (2, true)
    return version
  }()

  private static let python312: PythonVersion = {
    var version = PythonVersion(
      "3.12", [.python311], words,
      """
      BINARY_SUBSCR 25/1, BINARY_SLICE 26, LOAD_ATTR 106/9, COMPARE_OP 107/1, LOAD_GLOBAL 116/4,
      RETURN_CONST 121, LOAD_FAST_CHECK 127, CALL 171/3, CALL_INTRINSIC_1 173, END_FOR 4,
      FOR_ITER 93/1, LOAD_FAST_AND_CLEAR 143
      """)
    version.marksGlobals = true
    (version.jumpUnit, version.jumpsRelatively, version.loopTail) = (2, true, 2)
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
      SWAP 115, UNPACK_SEQUENCE 117/1, RESUME 149, END_FOR 11, FORMAT_SIMPLE 14,
      GET_ITER 19, LOAD_ASSERTION_ERROR 23, MAKE_FUNCTION 26, STORE_SUBSCR 39/1, TO_BOOL 40/3,
      UNARY_NOT 43, BUILD_CONST_KEY_MAP 46, BUILD_MAP 48, BUILD_STRING 51, CALL_FUNCTION_EX 54,
      CONTAINS_OP 59/1, DICT_MERGE 68, DICT_UPDATE 69, FOR_ITER 72/1, IS_OP 76, JUMP_BACKWARD 77/1, JUMP_FORWARD 79,
      LIST_APPEND 80, LIST_EXTEND 81, LOAD_FAST_AND_CLEAR 86, MAKE_CELL 94,
      POP_JUMP_IF_FALSE 97/1, POP_JUMP_IF_NONE 98/1, POP_JUMP_IF_NOT_NONE 99/1,
      POP_JUMP_IF_TRUE 100/1, RAISE_VARARGS 101, SET_FUNCTION_ATTRIBUTE 106, STORE_DEREF 109
      """)
    version.marksGlobals = true
    (version.jumpUnit, version.jumpsRelatively, version.loopTail) = (2, true, 4)
    version.putsNullLast = true
    version.marksMethods = true
    version.comparisonShift = 5
    return version
  }()

  package static let all = [
    python27, python34, python36, python38, python310, python311, python312, python313,
  ]
}
