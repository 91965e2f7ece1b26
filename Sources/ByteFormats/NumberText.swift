/// Numbers as JSON and CSV print them.
enum NumberText {
  /// The shortest decimal that reads back as the same float; NaN, Infinity and -Infinity as Python
  /// writes them.
  static func append(_ value: Float, isInteger: Bool = false, to text: inout [UInt8]) {
    if value.isNaN {
      text += "NaN".utf8
    } else if value.isInfinite {
      text += (value < 0 ? "-Infinity" : "Infinity").utf8
    } else if isInteger, let integer = Int32(exactly: value) {
      text += String(integer).utf8
    } else {
      text += value.description.utf8
    }
  }
}
