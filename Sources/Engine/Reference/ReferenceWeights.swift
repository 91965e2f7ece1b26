import CoreMLModel
import TensorCore

extension Weights? {
  /// The values of a weight of `shape`, or an error that names the field.
  func values(_ shape: [Int], _ field: String) throws -> [Float] {
    guard let self else { throw ModelError(.malformed, "is missing", field: field) }
    return try NamedWeights(field, shape, self).decoded().array()
  }
}
