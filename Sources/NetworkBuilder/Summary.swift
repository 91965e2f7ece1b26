extension WrittenNetwork {
  var parameterCount: Int { rows.reduce(0) { $0 + ($1.parameterCount ?? 0) } }

  /// A table of the layers, and the total number of parameters.
  var summary: String {
    let cells =
      [["layer", "type", "output", "parameters"]]
      + rows.map {
        [$0.name, $0.type, $0.shape.description, $0.parameterCount.map(Self.grouped) ?? "(shared)"]
      }
    let widths = (0..<4).map { column in cells.map { $0[column].count }.max() ?? 0 }
    let lines = cells.map { row in
      let text = row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column == 3 ? space + cell : cell + space
      }
      return text.joined(separator: "  ")
    }
    return (lines + ["\(Self.grouped(parameterCount)) parameters"]).joined(separator: "\n")
  }

  /// Formats a non-negative number in groups of three digits: 138,357,544.
  private static func grouped(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.enumerated().reduce(into: "") { text, digit in
      if digit.offset > 0, (digits.count - digit.offset) % 3 == 0 { text.append(",") }
      text.append(digit.element)
    }
  }
}
