/// Rows of cells in columns as wide as their widest cell, two spaces apart. On a terminal, the
/// table is never wider than the terminal.
struct TextTable {
  enum Alignment { case left, right }

  /// The largest column width if lines may have any length; a longer cell shifts the cells after
  /// it.
  private static let widest = 40
  /// On a terminal, no column becomes narrower than this.
  private static let narrowest = 6

  private let alignments: [Alignment]
  private let indent: Int
  private var rows: [(cells: [String], note: String)] = []

  /// - Parameter titles: empty ones make no header; `>` before a title aligns its column right.
  init(_ titles: [String], indent: Int = 0, rows: [[String]] = []) {
    alignments = titles.map { $0.hasPrefix(">") ? .right : .left }
    self.indent = indent
    let titles = titles.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }
    if !titles.allSatisfy(\.isEmpty) { add(titles) }
    for row in rows { add(row) }
  }

  /// Precondition: there is one cell per column.
  ///
  /// - Parameter note: text on separate lines below the row.
  mutating func add(_ cells: [String], note: String = "") {
    precondition(cells.count == alignments.count)
    rows.append((cells.map(Console.escaped), note))
  }

  /// One line per row, without trailing spaces.
  var text: String { text(width: Terminal.outputWidth) }

  /// - Parameter width: the maximum line length; nil for no limit.
  func text(width: Int?) -> String {
    let widths = columnWidths(width)
    let margin = String(repeating: " ", count: indent)
    return rows.map { row in
      let cells = row.cells.enumerated().map { column, cell in
        let cell = width == nil ? cell : cell.cut(to: widths[column])
        return alignments[column] == .left
          ? cell.padded(to: widths[column]) : cell.leftPadded(to: widths[column])
      }
      let line = (margin + cells.joined(separator: "  ")).trimmedRight().cut(to: width) + "\n"
      if row.note.isEmpty { return line }
      let start = String(repeating: " ", count: indent + 4)
      return line + start
        + row.note.wrapped(to: width, indent: indent + 6, column: indent + 4)
        .replacing("\u{A0}", with: " ") + "\n"
    }.joined()
  }

  private func columnWidths(_ width: Int?) -> [Int] {
    var widths = alignments.indices.map { column in
      rows.map { $0.cells[column].count }.max() ?? 0
    }
    guard let width else { return widths.map { min(Self.widest, $0) } }
    var excess = indent + widths.reduce(0, +) + 2 * (widths.count - 1) - width
    while excess > 0 {
      // The widest column shrinks first.
      guard
        let column = widths.indices.filter({ alignments[$0] == .left })
          .max(by: { widths[$0] < widths[$1] }), widths[column] > Self.narrowest
      else { break }
      widths[column] -= 1
      excess -= 1
    }
    return widths
  }
}
