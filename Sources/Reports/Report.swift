/// A self-contained HTML page: one file that loads no others. It is complete without its script,
/// which adds searching, folding and zooming to the graphs.
package struct Report: Sendable {
  package var title: String
  private var body: [HTML] = []

  package init(_ title: String) { self.title = title }

  package mutating func add(_ html: HTML) { body.append(html) }

  package mutating func add(_ heading: String, _ html: HTML) {
    body.append("<section>\n<h2>\(heading)</h2>\n\(html)</section>\n")
  }

  package var html: String {
    let page: HTML = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
      <title>\(title)</title>
      <style>
      \(HTML(stringLiteral: Self.text(PackageResources.report_css)))
      \(HTML(stringLiteral: GraphImage.style))
      </style>
      </head>
      <body>
      <h1>\(title)</h1>
      \(body.lines())<script>
      \(HTML(stringLiteral: Self.text(PackageResources.report_js)))
      </script>
      </body>
      </html>

      """
    return page.source
  }

  static func text(_ resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }
}

extension HTML {
  /// A table of names and values.
  package static func facts(_ rows: [(label: String, text: String)]) -> HTML {
    if rows.isEmpty { return "" }
    let lines = rows.map { row -> HTML in
      "<tr><th scope=\"row\">\(row.label)</th><td>\(row.text)</td></tr>"
    }
    return "<table>\n\(lines.lines())</table>\n"
  }

  /// A table with a header row; numeric columns are right-aligned.
  package static func table(
    _ titles: [String], _ rows: [[String]], numbers: Set<Int> = []
  ) -> HTML {
    func line(_ cells: [String], _ tag: HTML) -> HTML {
      let cells = cells.enumerated().map { index, text -> HTML in
        "<\(tag)\(numbers.contains(index) ? " class=\"number\"" : "" as HTML)>\(text)</\(tag)>"
      }
      return "<tr>\(cells.joined())</tr>"
    }
    return "<table>\n\(line(titles, "th"))\n\(rows.map { line($0, "td") }.lines())</table>\n"
  }
}
