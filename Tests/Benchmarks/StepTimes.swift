import Engine
import Synchronization

/// The shortest times of a network's steps.
final class StepTimes: Sendable {
  private let records = Mutex<[StepRecord]>([])

  func record(_ record: StepRecord) { records.withLock { $0.append(record) } }

  /// The sum over the steps of a layer, each with the time of its fastest execution.
  func shortest(_ layer: String) -> OneLayer.Measurement {
    let records = records.withLock { $0 }.filter { $0.step.name == layer }
    let own = records.filter { $0.step.layerType != "convert" }
    let step = own.first?.step
    return OneLayer.Measurement(
      seconds: own.map(\.seconds).min() ?? .infinity, multiplyAdds: step?.multiplyAdds ?? 0,
      weightBytes: step?.weightBytes ?? 0, kernel: step?.kernel ?? "")
  }
}
