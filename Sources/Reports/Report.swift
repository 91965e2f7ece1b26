/// A self-contained HTML page: one file that loads no others. It is complete without its script,
/// which adds search, folding, zooming and the panel to the graphs.
package struct Report: Sendable {
  package var title: String
  private var body: [HTML] = []
  private var headings: [String] = []
  var graphCount = 0

  package init(_ title: String) { self.title = title }

  package mutating func add(_ html: HTML) { body.append("<div class=\"text\">\n\(html)</div>\n") }

  package mutating func add(_ heading: String, _ html: HTML, kind: HTML = "text") {
    headings.append(heading)
    body.append(
      """
      <section class="\(kind)" id="part-\(headings.count)">
      <h2>\(heading)</h2>
      \(html)</section>

      """)
  }

  /// The prefix of row IDs in the table of layers of the last graph.
  var row: String { "layer-\(graphCount > 1 ? "\(graphCount)-" : "")" }

  /// Links to the sections.
  private var contents: HTML {
    let links = headings.enumerated().map { "<a href=\"#part-\($0 + 1)\">\($1)</a>" as HTML }
    return links.count > 1 ? "<nav>\(links.lines())</nav>\n" : ""
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
      <style>\(HTML(stringLiteral: Self.text(PackageResources.report_css)))\(GraphImage.style)</style>
      </head>
      <body>
      <header>
      <h1>\(title)</h1>
      \(contents)</header>
      \(body.lines())<script>\(HTML(stringLiteral: Self.text(PackageResources.report_js)))</script>
      </body>
      </html>

      """
    return page.source
  }

  /// The hashes of the style and the script, the only ones that a browser accepts; `ReportTests`
  /// recomputes them.
  private static let styleHash: HTML = "sha256-625Zm36wb/zvxohxbJgmWqCCx09YNsQqWOhZ5Mif8/E="
  private static let scriptHash: HTML = "sha256-DJkvHFB9QHU5tVCZYYoHEYX9HeIFHN6L1SN4czQx0ls="

  static func text(_ resource: [UInt8]) -> String { String(decoding: resource, as: UTF8.self) }
}

extension HTML {
  /// A table of names and values; if there are many, all after the first few are folded.
  package static func facts(_ rows: [(label: String, text: String)]) -> HTML {
    if rows.isEmpty { return "" }
    let shown = rows.count > 20 ? 16 : rows.count
    let lines = rows[..<shown].map { row -> HTML in
      "<tr><th scope=\"row\">\(row.label)</th><td>\(row.text)</td></tr>"
    }
    let rest = facts(Array(rows[shown...]))
    return """
      <table class="facts">
      \(lines.lines())</table>
      \(shown == rows.count ? "" : "<details>\n<summary>More</summary>\n\(rest)</details>\n" as HTML)
      """
  }

  /// A table with a header row; numeric columns are right-aligned.
  package static func table(_ titles: [String], _ rows: [[HTML]], numbers: Set<Int> = []) -> HTML {
    func line(_ cells: [HTML], _ tag: HTML) -> HTML {
      let cells = cells.enumerated().map { index, text -> HTML in
        "<\(tag)\(numbers.contains(index) ? " class=\"number\"" : "" as HTML)>\(text)</\(tag)>"
      }
      return "<tr>\(cells.joined())</tr>"
    }
    return
      "<table>\n\(line(titles.map { "\($0)" }, "th"))\n\(rows.map { line($0, "td") }.lines())</table>\n"
  }

  package static func table(
    _ titles: [String], _ rows: [[String]], numbers: Set<Int> = []
  ) -> HTML {
    table(titles, rows.map { $0.map { "\($0)" as HTML } }, numbers: numbers)
  }

  /// A list that is folded if it is long, which keeps the page short.
  package static func folded(_ count: Int, _ list: HTML) -> HTML {
    count <= 60 ? list : "<details>\n<summary>Show all \(count)</summary>\n\(list)</details>\n"
  }
}
