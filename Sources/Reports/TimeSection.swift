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
  /// - Parameter titles: of the further cells, of which each time has as many.
  package mutating func add(_ heading: String, times: [ReportedTime], titles: [String]) {
    let classes: [HTML] = titles.indices.map { column in
      let isNumber = times.allSatisfy {
        $0.cells[column].isEmpty || Double($0.cells[column]) != nil
      }
      return isNumber ? " class=\"number\"" : ""
    }
    func cells(_ texts: [String], _ element: HTML) -> HTML {
      zip(texts, classes).map { "<\(element)\($1)>\($0)</\(element)>" as HTML }.joined()
    }
    let longest = times.map(\.milliseconds).max() ?? 0
    let rows = times.map { time -> HTML in
      let width = longest > 0 ? time.milliseconds / longest * 240 : 0
      return """
        <tr><td>\(time.name)</td><td class="number">\(number(time.milliseconds, digits: 3))</td><td>\
        <svg width="240" height="12" aria-hidden="true"><rect class="bar" width="\(width)" \
        height="12"/></svg></td>\(cells(time.cells, "td"))</tr>
        """
    }
    add(
      heading,
      """
      <table>
      <tr><th>step</th><th class="number">ms</th><th></th>\(cells(titles, "th"))</tr>
      \(rows.lines())</table>

      """)
  }
}
