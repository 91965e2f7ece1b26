import Assay
import Synchronization

/// The steps of a prediction, as they were executed.
final class StepLog: Sendable {
  private let records = Mutex<[StepRecord]>([])

  func append(_ record: StepRecord) { records.withLock { $0.append(record) } }
  func clear() { records.withLock { $0 = [] } }

  /// The steps since the log was cleared, which clears it.
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

/// Time, share, operations and speed of each step.
struct StepTable {
  let records: [StepRecord]
  /// Operations a second that the machine can do at most, where that was measured.
  var peak: Double?

  private var total: Double { records.reduce(0) { $0 + $1.seconds } }

  /// Operations a second, a multiply-add being two.
  private func speed(_ record: StepRecord) -> Double {
    record.seconds > 0 ? 2 * Double(record.step.multiplyAdds) / record.seconds : 0
  }

  var text: String {
    var table = TextTable(
      [
        ("step", .left), ("ms", .right), ("%", .right), ("MMAC", .right), ("GFLOP/s", .right),
      ] + (peak == nil ? [] : [("% of peak", .right)]) + [("kernel", .left)])
    let total = total
    func row(_ name: String, _ seconds: Double, _ operations: Double, _ kernel: String) {
      let speed = seconds > 0 ? operations / seconds : 0
      table.add(
        [
          name, fixedText(seconds * 1e3, decimals: 3),
          fixedText(total > 0 ? 100 * seconds / total : 0, decimals: 1),
          operations > 0 ? fixedText(operations / 2e6, decimals: 2) : "",
          operations > 0 ? fixedText(speed / 1e9, decimals: 1) : "",
        ]
          + (peak.map { [operations > 0 ? fixedText(100 * speed / $0, decimals: 0) : ""] } ?? [])
          + [kernel])
    }
    var operations = 0.0
    for record in records {
      let own = 2 * Double(record.step.multiplyAdds)
      operations += own
      row(Console.escaped(record.step.name), record.seconds, own, record.step.kernel)
    }
    row("total", total, operations, "")
    return table.text
  }

  /// An object a step.
  var json: [JSONText] {
    let total = total
    return records.map { record in
      let step = record.step
      let speed = speed(record)
      return .versioned(
        [
          ("step", .string(step.name)), ("type", .string(step.layerType)),
          ("kernel", .string(step.kernel)),
          ("step_ms", .fixed(record.seconds * 1e3, decimals: 4)),
          ("share", .fixed(total > 0 ? record.seconds / total : 0, decimals: 4)),
          ("multiply_adds", .int(step.multiplyAdds)),
          ("gflops", .fixed(speed / 1e9, decimals: 2)),
        ] + (peak.map { [("share_of_peak", .fixed(speed / $0, decimals: 4))] } ?? []))
    }
  }
}
