import CoreMLModel
import TensorCore

extension Weights? {
  /// The values, or an error that names the field.
  func values(_ count: Int, _ field: String) throws -> [Float] {
    guard let self else { throw ModelError(.malformed, "is missing", field: field) }
    let values = self.floatValue.array()
    guard values.count == count else {
      throw ModelError(.malformed, "has \(values.count) values, not \(count)", field: field)
    }
    return values
  }
}
