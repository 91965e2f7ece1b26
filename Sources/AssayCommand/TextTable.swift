/// Rows of cells in columns as wide as their widest cell, two spaces apart.
struct TextTable {
  enum Alignment {
    case left, right
  }

  /// A column grows to this; a longer cell moves what follows it.
  private static let widest = 40

  private let alignments: [Alignment]
  private let indent: String
  private var rows: [[String]]

  /// - Parameter columns: titles and alignments; without any title there is no line of titles.
  init(_ columns: [(title: String, alignment: Alignment)], indent: Int = 0) {
    alignments = columns.map(\.alignment)
    self.indent = String(repeating: " ", count: indent)
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
    let widths = alignments.indices.map { column in
      min(Self.widest, rows.map { $0[column].count }.max() ?? 0)
    }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        alignments[column] == .left
          ? cell.padded(to: widths[column]) : cell.leftPadded(to: widths[column])
      }
      return (indent + cells.joined(separator: "  ")).trimmedRight() + "\n"
    }.joined()
  }
}
