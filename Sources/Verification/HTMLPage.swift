import LibC
import TensorCore

/// A self-contained page: no script, no network.
struct HTMLPage {
  let title: String
  /// Style sheet rules in addition to those of every page.
  let style: String
  /// Lines of HTML below the title.
  let body: [String]

  var text: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(escaped(title))</title>
    <style>
    body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; }
    table { border-collapse: collapse; margin: 1em 0; }
    th, td { text-align: left; padding: 0.15em 1em 0.15em 0; vertical-align: top; }
    th { font-weight: 600; } td { font-variant-numeric: tabular-nums; }
    \(style)
    svg text { font: 11px system-ui, sans-serif; }
    </style>
    </head>
    <body>
    <h1>\(escaped(title))</h1>
    \(body.joined(separator: "\n"))
    </body>
    </html>

    """
  }
}

/// `text` with control characters and HTML's special characters escaped.
func escaped(_ text: String) -> String {
  var result = ""
  for character in text.escapingControls().unicodeScalars {
    switch character {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    case "'": result += "&#39;"
    default: result.unicodeScalars.append(character)
    }
  }
  return result
}

/// `value` with `digits` significant digits, in the format of C's `%g`.
func number(_ value: Double, digits: Int32 = 4) -> String {
  var text = [CChar](repeating: 0, count: 64)
  let length = withVaList([digits, value]) { vsnprintf(&text, text.count, "%.*g", $0) }
  return String(decoding: text.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
}
