/// The duration of a step, and the other columns of its table.
package typealias ReportedTime = (name: String, milliseconds: Double, cells: [String])

extension Report {
  /// Adds bars for the durations of steps, in their order.
  /// - Parameter titles: the titles of the further cells, as many as each time has.
  package mutating func add(_ heading: String, times: [ReportedTime], titles: [String]) {
    let numbers = titles.indices.filter { column in
      times.allSatisfy { $0.cells[column].isEmpty || Double($0.cells[column]) != nil }
    }
    let longest = times.map(\.milliseconds).max() ?? 0
    let rows = times.map { time -> [HTML] in
      let width = longest > 0 ? time.milliseconds / longest * 240 : 0
      let bar: HTML = """
        <svg width="240" height="12" aria-hidden="true"><rect class="bar" width="\(width)" \
        height="12"/></svg>
        """
      return ["\(time.name)", "\(number(time.milliseconds, digits: 3))", bar]
        + time.cells.map { "\($0)" }
    }
    add(
      heading,
      .table(["step", "ms", ""] + titles, rows, numbers: Set([1] + numbers.map { $0 + 3 })))
  }
}
