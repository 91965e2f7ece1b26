import Synchronization

/// The executed steps of a prediction.
final class StepLog: Sendable {
  private let records = Mutex<[StepRecord]>([])

  func append(_ record: StepRecord) { records.withLock { $0.append(record) } }
  func clear() { records.withLock { $0 = [] } }

  /// Returns the steps since the log was cleared, and clears it.
  func take() -> [StepRecord] {
    records.withLock { records in
      defer { records = [] }
      return records
    }
  }

  static func line(_ record: StepRecord) -> String {
    let step = record.step
    let shapes = step.outputShapes.map { "\($0)" }.joined(separator: " ")
    return "\(Console.escaped(step.name).padded(to: 32)) \(step.layerType.padded(to: 14)) \(shapes)"
  }
}

/// Time, share, operations and speed of each step. The runs of a step in a loop are one row.
struct StepTable {
  /// A step with the sums of its runs.
  private struct Row {
    let step: StepDescription
    var count = 0
    var seconds = 0.0

    var multiplyAdds: Double { Double(step.multiplyAdds) * Double(count) }
    /// Operations per second; a multiply-add counts as two.
    var speed: Double { seconds > 0 ? 2 * multiplyAdds / seconds : 0 }
  }

  private let rows: [Row]
  /// The machine's peak operations per second, if measured.
  private let peak: Double?

  init(records: [StepRecord], peak: Double? = nil) {
    self.peak = peak
    var rows: [Row] = []
    var places: [String: [Int]] = [:]
    for record in records {
      let known = places[record.step.name]?.first { rows[$0].step == record.step }
      let place = known ?? rows.count
      if known == nil {
        rows.append(Row(step: record.step))
        places[record.step.name, default: []].append(place)
      }
      rows[place].count += 1
      rows[place].seconds += record.seconds
    }
    self.rows = rows
  }

  private var total: Double { rows.reduce(0) { $0 + $1.seconds } }

  var text: String {
    var table = TextTable(
      [
        ("step", .left), ("ms", .right), ("%", .right), ("multiply-adds", .right),
        ("GFLOP/s", .right),
      ] + (peak == nil ? [] : [("% of peak", .right)]) + [("kernel", .left)])
    let total = total
    func row(_ name: String, _ seconds: Double, _ operations: Double, _ kernel: String) {
      let speed = seconds > 0 ? operations / seconds : 0
      table.add(
        [
          name, fixedText(seconds * 1e3, decimals: 3),
          fixedText(total > 0 ? 100 * seconds / total : 0, decimals: 1),
          operations > 0 ? groupedText(Int(operations / 2)) : "",
          operations > 0 ? fixedText(speed / 1e9, decimals: 1) : "",
        ]
          + (peak.map { [operations > 0 ? fixedText(100 * speed / $0, decimals: 0) : ""] } ?? [])
          + [kernel])
    }
    var operations = 0.0
    for item in rows {
      let own = 2 * item.multiplyAdds
      operations += own
      let name = Console.escaped(item.step.name) + (item.count > 1 ? " ×\(item.count)" : "")
      row(name, item.seconds, own, item.step.kernel)
    }
    row("total", total, operations, "")
    return table.text
  }

  static let reportedTitles = ["%", "multiply-adds", "GFLOP/s", "kernel"]

  /// The same for a page.
  var reported: [ReportedTime] {
    let total = total
    return rows.map { row in
      (
        name: row.step.name + (row.count > 1 ? " ×\(row.count)" : ""),
        milliseconds: row.seconds * 1e3,
        cells: [
          fixedText(total > 0 ? 100 * row.seconds / total : 0, decimals: 1),
          row.multiplyAdds > 0 ? groupedText(Int(row.multiplyAdds)) : "",
          row.multiplyAdds > 0 ? fixedText(row.speed / 1e9, decimals: 1) : "", row.step.kernel,
        ]
      )
    }
  }

  /// One object per step.
  var json: [JSONText] {
    let total = total
    return rows.map { row in
      let step = row.step
      let speed = row.speed
      return .versioned(
        [
          ("step", .string(step.name)), ("type", .string(step.layerType)),
          ("kernel", .string(step.kernel)),
          ("step_ms", .fixed(row.seconds * 1e3, decimals: 4)),
          ("share", .fixed(total > 0 ? row.seconds / total : 0, decimals: 4)),
          ("multiply_adds", .int(step.multiplyAdds * row.count)),
          ("gflops", .fixed(speed / 1e9, decimals: 2)),
        ] + (row.count > 1 ? [("count", .int(row.count))] : [])
          + (peak.map { [("share_of_peak", .fixed(speed / $0, decimals: 4))] } ?? []))
    }
  }
}
