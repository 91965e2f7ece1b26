import Engine
import Synchronization

/// The steps of a prediction, as they were executed.
final class StepLog: Sendable {
  private let records = Mutex<[StepRecord]>([])

  func append(_ record: StepRecord) { records.withLock { $0.append(record) } }
  func clear() { records.withLock { $0 = [] } }

  static func line(_ record: StepRecord) -> String {
    let step = record.step
    let shapes = step.outputShapes.map { "\($0)" }.joined(separator: " ")
    return "\(Console.escaped(step.name).padded(to: 32)) \(step.layerType.padded(to: 14)) \(shapes)"
  }

  /// Time, share, operations and speed of each step.
  func table() -> String {
    let records = records.withLock { $0 }
    let total = records.reduce(0) { $0 + $1.seconds }
    var text =
      "step".padded(to: 32) + "    ms" + "      %" + "     MMAC" + "  GFLOP/s" + "  kernel\n"
    for record in records {
      let step = record.step
      let speed = record.seconds > 0 ? 2 * Double(step.multiplyAdds) / record.seconds / 1e9 : 0
      text += Console.escaped(step.name).padded(to: 30)
      text += fixedText(record.seconds * 1e3, decimals: 3).leftPadded(to: 9)
      text += fixedText(total > 0 ? 100 * record.seconds / total : 0, decimals: 1).leftPadded(to: 7)
      text += fixedText(Double(step.multiplyAdds) / 1e6, decimals: 2).leftPadded(to: 9)
      text += fixedText(speed, decimals: 1).leftPadded(to: 9)
      text += "  \(step.kernel)\n"
    }
    return text + "total".padded(to: 30) + fixedText(total * 1e3, decimals: 3).leftPadded(to: 9)
      + "\n"
  }
}
