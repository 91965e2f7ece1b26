import CoreMLModel
import TensorCore

extension Model {
  /// The model with another declared version of the format, which also limits the versions of a
  /// pipeline's models.
  ///
  /// - Throws: `.mismatch` with every part that needs a later version, and why.
  package func settingVersion(_ version: Int) throws -> Model {
    try requireVersion(atMost: version)
    var model = self
    model.specificationVersion = version
    model.pipelineModels = pipelineModels.map { member in
      var member = member
      member.specificationVersion = min(member.specificationVersion, version)
      return member
    }
    return model
  }

  /// The model with a later declared version of the format if it uses parts that `before` does not
  /// use and that need one.
  package func withSufficientVersion(since before: Model) -> Model {
    var model = self
    if pipelineModels.count == before.pipelineModels.count {
      model.pipelineModels = zip(pipelineModels, before.pipelineModels).map {
        $0.withSufficientVersion(since: $1)
      }
    }
    let needed = model.minimumSpecificationVersion
    if needed > before.minimumSpecificationVersion {
      model.specificationVersion = max(specificationVersion, needed)
    }
    return model
  }
}
