import CoreMLModel
import TensorCore

extension Model {
  /// The model declared for another version of the format; the models of a pipeline declare no later
  /// one.
  ///
  /// - Throws: `.mismatch` with every part that needs a later version, and why.
  package func settingVersion(_ version: Int) throws -> Model {
    try require(
      (1...SpecificationVersion.newest).contains(version), .mismatch,
      "there is no version \(version) of the format",
      hint: "versions 1 to \(SpecificationVersion.newest) are known")
    let demands = demands(above: version)
    guard demands.isEmpty else {
      let lines = demands.map { "\($0.part) needs version \($0.version): it \($0.reason)" }
      throw ModelError(
        .mismatch, "the model cannot be of version \(version)",
        field: "specificationVersion", hint: lines.joined(separator: "\n"))
    }
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
