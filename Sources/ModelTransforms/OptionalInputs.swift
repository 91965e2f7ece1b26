import CoreMLModel
import TensorCore

extension Model {
  /// The model with the input `name` optional or required.
  ///
  /// - Throws: `.mismatch` if there is no such input.
  package func settingOptional(_ isOptional: Bool, _ name: String) throws -> Model {
    var isInput = false
    let model = try editingFeature(name) { position in
      guard position.isInput else { return }
      isInput = true
      position.feature.type?.isOptional = isOptional
    }
    guard isInput else { throw ModelError(.mismatch, "is not an input", field: name) }
    return model
  }
}
