/// Rows of cells in columns as wide as their widest cell, two spaces apart.
struct TextTable {
  enum Alignment {
    case left, right
  }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// - Parameter columns: titles and alignments; without any title there is no line of titles.
  init(_ columns: [(title: String, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    let titles = columns.map(\.title)
    rows = titles.allSatisfy(\.isEmpty) ? [] : [titles]
  }

  /// Precondition: a cell a column.
  mutating func add(_ cells: [String]) {
    precondition(cells.count == alignments.count)
    rows.append(cells)
  }

  /// A line a row, without blanks at the ends.
  var text: String {
    let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        if column > 0 { line += "  " }
        line +=
          alignments[column] == .left
          ? cell.padded(to: widths[column]) : cell.leftPadded(to: widths[column])
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
