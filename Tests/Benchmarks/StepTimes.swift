import Engine
import Synchronization

/// The shortest times of the steps of a network.
final class StepTimes: Sendable {
  private let records = Mutex<[StepRecord]>([])

  func record(_ record: StepRecord) { records.withLock { $0.append(record) } }

  /// Of all steps of a layer in one run; their times are those of the fastest execution of each.
  func shortest(_ layer: String) -> OneLayer.Measurement {
    let records = records.withLock { $0 }.filter { $0.step.name == layer }
    let own = records.filter { $0.step.layerType != "convert" }
    let step = own.first?.step
    return OneLayer.Measurement(
      seconds: own.map(\.seconds).min() ?? .infinity, multiplyAdds: step?.multiplyAdds ?? 0,
      weightBytes: step?.weightBytes ?? 0, kernel: step?.kernel ?? "")
  }
}
