import CoreMLModel
import TensorCore

/// Converts a model's names to Swift identifiers, literals and comments. No name can break out of
/// the text that it is inserted into.
package struct SwiftNames {
  private var pool: NamePool

  package init(taken: Set<String>) {
    pool = NamePool(taken.union(Self.keywords)) { "_\($0 + 1)" }
  }

  /// `name` with `_` for characters that identifiers cannot contain, and with a number appended if
  /// the result is a Swift keyword or already taken.
  package mutating func unique(_ name: String, else empty: String) -> String {
    var text = String(name.unicodeScalars.prefix(60).map { Self.isPart($0) ? Character($0) : "_" })
    if text.allSatisfy({ $0 == "_" }) { text = empty }
    if let first = text.unicodeScalars.first, ("0"..."9").contains(first) {
      text = empty + "_" + text
    }
    return pool.take(text)
  }

  /// Whether `name` is a valid identifier.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
    return name.unicodeScalars.allSatisfy(isPart) && !keywords.contains(name) && name != "_"
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: false
    }
  }

  /// A string literal.
  static func literal(_ text: String) -> String {
    "\"" + escaped(text) { $0 == "\"" || $0 == "\\" } + "\""
  }

  /// The text for a one-line comment.
  package static func comment(_ text: String) -> String { escaped(text) { _ in false } }

  /// Escapes characters outside printable ASCII, and `special` ones.
  private static func escaped(_ text: String, _ special: (Unicode.Scalar) -> Bool) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(2000))).escaping {
      special($0) || $0.value < 0x20 || $0.value > 0x7e ? $0.escape : nil
    }
  }

  /// Names that the package's files use; a class or property with such a name would hide them.
  static let types = systemTypes.union(
    LayerFiles.texts.filter { !$0.value.contains(LayerFiles.declaration) }.keys
  ).union([
    "AxisShape", "LayerFault", "LayerParameters", "LayerShapes", "LayerWeights", "bilinearSample",
    "complement", "errorFunction", "exponential",
  ])

  private static let systemTypes: Set<String> = [
    "Accelerate", "Any", "AnyObject", "Array", "AssayPlugin", "Bool", "Bundle", "CAssayPlugin",
    "Character", "CoreML", "Data", "Dictionary", "Double", "Error", "Expected", "Fault", "Float",
    "Float16", "Foundation", "Int", "Int32", "LayerTests", "Metal", "MLCustomLayer",
    "MLMultiArray", "MLMultiArrayDataType", "MTLCommandBuffer", "MTLComputePipelineState",
    "MTLDevice", "MTLSize", "MTLTexture", "NSNumber", "NSObject", "NSString", "Never",
    "OpaquePointer", "Optional", "Plugin", "Result", "Self", "Set", "String", "Substring", "Swift",
    "Testing", "Type", "UInt", "UInt16", "UInt32", "UInt8", "URL", "UnsafeMutablePointer",
    "UnsafePointer", "Void", "abs", "all", "classes", "entry", "erf", "erfc", "exp", "max", "min",
    "vDSP_Length",
    "vDSP_mmov", "vDSP_vdiv", "vDSP_vsadd", "vDSP_vsmul", "vvexpf", "zip",
  ]

  /// Members that every class of the package has.
  static let members: Set<String> = [
    "Fault", "answer", "check", "classForCoder", "className", "copy", "debugDescription",
    "description",
    "encode", "evaluate", "floats", "halves", "hash", "hashValue", "isEqual", "isProxy", "kernel",
    "mutableCopy", "outputShapes", "parameters", "perform", "responds",
    "setWeightData", "superclass", "weights",
  ]

  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "_", "actor", "as", "associatedtype", "async", "await",
    "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else",
    "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in", "init", "inout", "internal", "is", "let", "macro", "nil", "nonisolated",
    "open", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows",
    "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
    "try", "typealias", "var", "where", "while",
  ]
}
