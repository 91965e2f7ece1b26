import Assay
import CAssay

/// The outputs of a prediction, in C.
final class PredictedValues: Handle, @unchecked Sendable {
  // `@unchecked`: nothing is written after initialization.
  static let kind = "prediction"
  /// The result of `assay_outputs`.
  let values: UnsafePointer<assay_value>
  let count: Int
  /// The result of `assay_warnings`.
  let warnings: UnsafePointer<CChar>?
  private let writer = ValueWriter()

  /// Stores the outputs in the model's order.
  init(
    _ outputs: [String: FeatureValue], of model: Model, _ borrowed: BorrowedMemory, _ call: Call
  ) {
    var values: [assay_value] = []
    for feature in model.description?.output ?? [] {
      guard let value = outputs[feature.name] else { continue }
      values.append(writer.value(borrowed.owned(value), of: feature))
    }
    self.values = writer.memory.array(values)
    count = values.count
    warnings = writer.memory.lines(call.warnings)
  }
}
