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
      style-src '\(Self.styleHash)'; script-src '\(Self.scriptHash)'; img-src data:">
      <title>\(title)</title>
      <style>\(HTML(stringLiteral: Self.text(PackageResources.report_css) + GraphImage.style))</style>
      </head>
      <body>
      <h1>\(title)</h1>
      \(body.lines())<script>\(HTML(stringLiteral: Self.text(PackageResources.report_js)))</script>
      </body>
      </html>

      """
    return page.source
  }

  /// The hashes of the style and the script, which are all that a browser accepts; `ReportTests`
  /// computes them anew.
  private static let styleHash: HTML = "sha256-Me4rZazM2IJrnhqVM1rewE57Ho7ikFmNy3iSsKIni9w="
  private static let scriptHash: HTML = "sha256-uS6dUM01z89CB90mff/S+SPf0UuMhlU+cSuSd2Btgy4="

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
