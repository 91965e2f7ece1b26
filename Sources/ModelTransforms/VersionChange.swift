import CoreMLModel
import TensorCore

extension Model {
  /// The model declared for another version of the format; the models of a pipeline declare no later
  /// one.
  ///
  /// - Throws: `.mismatch` with every part that needs a later version, and why.
  package func settingVersion(_ version: Int) throws -> Model {
    try requireVersion(atMost: version)
    var model = self
    model.specificationVersion = version
    model.type = model.type?.mapPipeline { member in
      var member = member
      member.specificationVersion = min(member.specificationVersion, version)
      return member
    }
    return model
  }

  /// The model declared for a later version of the format where it uses what `before` did not, and
  /// that needs one.
  package func withSufficientVersion(since before: Model) -> Model {
    var model = self
    if var pipeline = model.type?.pipeline,
      pipeline.models.count == before.pipelineModels.count
    {
      for (index, member) in before.pipelineModels.enumerated() {
        pipeline.models[index] = pipeline.models[index].withSufficientVersion(since: member)
      }
      model.type?.pipeline = pipeline
    }
    let needed = model.minimumSpecificationVersion
    if needed > before.minimumSpecificationVersion {
      model.specificationVersion = max(specificationVersion, needed)
    }
    return model
  }
}
