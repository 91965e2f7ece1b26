import CoreMLModel
import TensorCore

extension Model {
  /// The model with another data type for the array feature `name`, or for all of them.
  ///
  /// - Throws: `.mismatch` if there is no such feature, or it is not an array; `.unsupported` for
  ///   types that ML Programs lack.
  package func settingArrayType(
    _ dataType: ArrayFeatureType.DataType, of name: String? = nil
  ) throws -> Model {
    guard let name else {
      return try featureNames.reduce(self) { model, name in
        try model.editingFeature(name) { position in
          guard case .multiArray(var array)? = position.feature.type?.kind else { return }
          array.dataType = dataType
          position.feature.setKind(.multiArray(array))
        }
      }.convertingProgramFeatures()
    }
    return try editingFeature(name) { position in
      var array = try position.feature.arrayType()
      array.dataType = dataType
      position.feature.setKind(.multiArray(array))
    }.convertingProgramFeatures()
  }
}
