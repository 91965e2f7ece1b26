/// Numbers as JSON and CSV print them.
package enum NumberText {
  /// `NaN`, `Infinity` or `-Infinity`, as Python writes them; nil for a finite number.
  package static func word(_ value: Double) -> String? {
    if value.isFinite { return nil }
    return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
  }

  /// The same as a JSON string, since JSON has no such numbers. Protobuf's JSON does the same.
  package static func jsonString(_ value: Double) -> String? { word(value).map { "\"\($0)\"" } }

  enum Format {
    case json
    case csv
  }

  /// The shortest decimal that reads back as the same float.
  static func append(
    _ value: Float, isInteger: Bool = false, as format: Format, to text: inout [UInt8]
  ) {
    if !value.isFinite {
      text += ((format == .json ? jsonString : word)(Double(value)) ?? "").utf8
    } else if isInteger, let integer = Int32(exactly: value) {
      text += String(integer).utf8
    } else {
      text += value.description.utf8
    }
  }
}
