/// A table generated from lists.
struct MarkdownTable: CustomStringConvertible {
  let columns: [String]
  let rows: [[String]]

  init(_ columns: [String], _ rows: [[String]]) {
    self.columns = columns
    self.rows = rows
  }

  /// The table of the layer types that an importer converts.
  static func layers(_ type: String, _ rows: [[String]]) -> MarkdownTable {
    MarkdownTable(
      [type, "also named", "becomes", "options", "specification", "refused"], rows)
  }

  var description: String {
    let rule = "|" + String(repeating: "---|", count: columns.count)
    return ([Self.line(columns), rule] + rows.map(Self.line)).joined(separator: "\n")
  }

  private static func line(_ cells: [String]) -> String {
    "| " + cells.joined(separator: " | ") + " |"
  }

  /// Names as code, separated by commas.
  static func code(_ names: some Sequence<String>) -> String {
    names.map { "`\($0)`" }.joined(separator: ", ")
  }
}
