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

/// Time, share, operations and speed of each step. Repeated runs of a step in a loop are one row.
struct StepTable {
  /// A step with the sums over its runs.
  private struct Row {
    let step: StepDescription
    var count = 0
    var seconds = 0.0

    var multiplyAdds: Double { Double(step.multiplyAdds) * Double(count) }
    /// The name with the number of runs.
    var name: String { step.name + (count > 1 ? " ×\(count)" : "") }
    /// Operations per second; a multiply-add counts as two.
    var speed: Double { seconds > 0 ? 2 * multiplyAdds / seconds : 0 }
  }

  private let rows: [Row]
  /// The machine's peak operations per second, if measured.
  private let peak: Double?

  init(records: [StepRecord], peak: Double? = nil) {
    self.peak = peak
    var rows: [Row] = []
    var indices: [String: [Int]] = [:]
    for record in records {
      let known = indices[record.step.name]?.first { rows[$0].step == record.step }
      let index = known ?? rows.count
      if known == nil {
        rows.append(Row(step: record.step))
        indices[record.step.name, default: []].append(index)
      }
      rows[index].count += 1
      rows[index].seconds += record.seconds
    }
    self.rows = rows
  }

  private var total: Double { rows.reduce(0) { $0 + $1.seconds } }

  var text: String {
    var table = TextTable(
      ["step", ">ms", ">%", ">multiply-adds", ">GFLOP/s"] + (peak == nil ? [] : [">% of peak"])
        + ["kernel"])
    let total = total
    func row(_ name: String, _ seconds: Double, _ operations: Double, _ kernel: String) {
      let speed = seconds > 0 ? operations / seconds : 0
      func ifAny(_ text: String) -> String { operations > 0 ? text : "" }
      table.add(
        [
          name, fixedText(seconds * 1e3, decimals: 3),
          fixedText(total > 0 ? 100 * seconds / total : 0, decimals: 1),
          ifAny(groupedText(Int(operations / 2))), ifAny(fixedText(speed / 1e9, decimals: 1)),
        ] + (peak.map { [ifAny(fixedText(100 * speed / $0, decimals: 0))] } ?? []) + [kernel])
    }
    var operations = 0.0
    for item in rows {
      let own = 2 * item.multiplyAdds
      operations += own
      row(item.name, item.seconds, own, item.step.kernel)
    }
    row("total", total, operations, "")
    return table.text
  }

  static let reportedTitles = ["%", "multiply-adds", "GFLOP/s", "kernel"]

  /// The same table for a report.
  var reported: [ReportedTime] {
    let total = total
    return rows.map { row in
      (
        name: row.name,
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
      .versioned([
        "step": row.step.name, "type": row.step.layerType, "kernel": row.step.kernel,
        "step_ms": (row.seconds * 1e3).json(decimals: 4),
        "share": (total > 0 ? row.seconds / total : 0).json(decimals: 4),
        "multiply_adds": row.step.multiplyAdds * row.count,
        "gflops": (row.speed / 1e9).json(decimals: 2),
        "count": row.count > 1 ? row.count.json : .absent,
        "share_of_peak": peak.map { (row.speed / $0).json(decimals: 4) }.ifPresent,
      ])
    }
  }
}
