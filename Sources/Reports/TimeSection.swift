/// The duration of a step.
package struct ReportedTime: Sendable {
  package var name: String
  package var milliseconds: Double
  /// The other columns of the table.
  package var cells: [String]

  package init(name: String, milliseconds: Double, cells: [String]) {
    self.name = name
    self.milliseconds = milliseconds
    self.cells = cells
  }
}

extension Report {
  /// Bars of the steps' times, in their order.
  /// - Parameter titles: titles of the other columns.
  package mutating func add(_ heading: String, times: [ReportedTime], titles: [String]) {
    let longest = times.map(\.milliseconds).max() ?? 0
    let rows = times.map { time -> HTML in
      let width = longest > 0 ? time.milliseconds / longest * 240 : 0
      return """
        <tr><td>\(time.name)</td><td class="number">\(number(time.milliseconds, digits: 3))</td><td>\
        <svg width="240" height="12" aria-hidden="true"><rect class="bar" width="\(width)" \
        height="12"/></svg></td>\(time.cells.map { "<td class=\"number\">\($0)</td>" as HTML }.joined())</tr>
        """
    }
    let head = titles.map { "<th class=\"number\">\($0)</th>" as HTML }.joined()
    add(
      heading,
      """
      <table>
      <tr><th>step</th><th class="number">ms</th><th></th>\(head)</tr>
      \(rows.lines())</table>

      """)
  }
}
