import LibC
import TensorCore

/// A fragment of HTML. Interpolated text and numbers are escaped; interpolated fragments are not:
/// `let row: HTML = "<td>\(name)</td>"`.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
  package private(set) var source: String

  package init(stringLiteral literal: String) { source = literal }

  package init(stringInterpolation interpolation: StringInterpolation) {
    source = interpolation.source
  }

  /// Appends literals unchanged and escapes interpolated text.
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var source = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      source.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    package mutating func appendLiteral(_ literal: String) { source += literal }
    package mutating func appendInterpolation(_ html: HTML) { source += html.source }
    package mutating func appendInterpolation(_ text: String) { source += HTML.escaped(text) }
    package mutating func appendInterpolation(_ value: Int) { source += String(value) }
    package mutating func appendInterpolation(_ value: Double) {
      source += number(value, digits: 6)
    }
  }

  package mutating func append(_ html: HTML) { source += html.source }

  /// `text` with HTML's special characters as entities; control characters are made visible.
  fileprivate static func escaped(_ text: String) -> String {
    text.escapingControls().escaping { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      default: nil
      }
    }
  }
}

extension Sequence<HTML> {
  /// The fragments, one per line.
  package func lines() -> HTML { reduce(into: "") { $0.append("\($1)\n") } }

  /// The concatenated fragments.
  package func joined() -> HTML { reduce(into: "") { $0.append($1) } }
}

/// `value` with `digits` significant digits, in the format of C's `%g`.
func number(_ value: Double, digits: Int32 = 4) -> String {
  var text = [CChar](repeating: 0, count: 64)
  let length = withVaList([digits, value]) { vsnprintf(&text, text.count, "%.*g", $0) }
  return String(decoding: text.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
}
