import CoreMLModel
import TensorCore

extension Model {
  /// The model with the blob as an additional output; if the blob is in a model of a pipeline, both
  /// that model and the pipeline get the output.
  ///
  /// - Throws: `.mismatch` if there is no such blob, or a feature already has its name.
  package func addingOutput(
    _ position: BlobPath, shapes: BlobShapes, dataType: ArrayFeatureType.DataType
  ) throws -> Model {
    guard let index = position.models.first else {
      return try addingOutput(position.blob, shape: shapes(self)[position.blob], dataType: dataType)
    }
    guard var pipeline = type?.pipeline, pipeline.models.indices.contains(index) else {
      throw ModelError(.mismatch, "the pipeline has no model \(index + 1)")
    }
    let name = position.blob
    guard let description, !description.output.contains(where: { $0.name == name }) else {
      throw ModelError(.mismatch, "'\(name)' is already an output")
    }
    if pipeline.models[index].output(name) == nil {
      guard !featureNames.contains(name) else { throw Self.clash(name) }
      pipeline.models[index] = try pipeline.models[index].addingOutput(
        position.inside, shapes: shapes, dataType: dataType)
    }
    var model = self
    model.type?.pipeline = pipeline
    if let output = pipeline.models[index].output(name) { model.description?.output.append(output) }
    return model
  }

  /// The part of the network or pipeline that computes the blobs `outputs` from the blobs `inputs`.
  /// A pipeline keeps the models that the part needs, cut where it starts or ends; if only one is
  /// left, it replaces the pipeline. A classifier or regressor stays one if the outputs include its
  /// prediction.
  ///
  /// - Throws: the errors of a network's `cut(from:to:shapes:dataType:)`; `.mismatch` if two
  ///   features of a pipeline would have the same name.
  package func cut(
    from inputs: [BlobPath], to outputs: [BlobPath], shapes: BlobShapes,
    dataType: ArrayFeatureType.DataType
  ) throws -> Model {
    guard let pipeline = type?.pipeline, let description else {
      return try cut(
        from: inputs.map(\.blob), to: outputs.map(\.blob), shapes: shapes(self), dataType: dataType)
    }
    guard !isUpdatable else { throw Self.updatableCut }
    let inputs = inputs.map(placed)
    let outputs = outputs.map(placed)
    try checkNames(inputs + outputs)
    let part = try PipelinePart(
      pipeline, from: inputs, to: outputs, shapes: shapes, dataType: dataType)
    var result = self
    result.type?.pipeline = part.pipeline
    result.description = try self.description(description, of: part, from: inputs, to: outputs)
    let predicted = result.description?.predictedFeatureName ?? ""
    if predicted.isEmpty { result.type = .pipeline(part.pipeline) }
    return result.withoutPipelineOfOne
  }

  static let updatableCut = ModelError(
    .unsupported, "a model with training parameters cannot be cut",
    hint: "remove them with \(setting: "notUpdatable")")

  /// Locates a feature of the pipeline in the last model that computes it, or else in the first
  /// that takes it.
  private func placed(_ position: BlobPath) -> BlobPath {
    guard position.models.isEmpty else { return position }
    return BlobPath(position.blob, models: owner(ofFeature: position.blob).map { [$0] } ?? [])
  }

  private static func clash(_ name: String, isFeature: Bool = true) -> ModelError {
    ModelError(
      .mismatch, "two features of the pipeline would have the name '\(name)'",
      hint: isFeature
        ? "rename the existing one with \(setting: "rename")"
        : "make one of them a feature first, then rename it with \(setting: "rename")")
  }

  /// Checks that blobs that become features do not have the names of other features.
  private func checkNames(_ positions: [BlobPath]) throws {
    let features = featureNames
    var owners: [String: [Int]] = [:]
    for position in positions {
      let isFeature =
        position.models.first.map {
          pipelineModels[$0].takes(position.blob) || pipelineModels[$0].output(position.blob) != nil
        } ?? true
      if !isFeature, features.contains(position.blob) { throw Self.clash(position.blob) }
      let other = owners.updateValue(position.models, forKey: position.blob) ?? position.models
      if other != position.models { throw Self.clash(position.blob, isFeature: false) }
    }
  }

  private func description(
    _ old: ModelDescription, of part: PipelinePart, from inputs: [BlobPath],
    to outputs: [BlobPath]
  ) throws -> ModelDescription {
    var description = old
    let needed = part.inputs
    for position in inputs where !needed.contains(where: { $0.name == position.blob }) {
      throw ModelError(.mismatch, "'\(position.blob)' is not connected to the part")
    }
    let names = needed.map(\.name)
    description.input = old.input.filter { names.contains($0.name) }
    description.input += needed.filter { input in !old.input.contains { $0.name == input.name } }
    var kept = outputs.map(\.blob)
    let predicted = [old.predictedProbabilitiesName, old.predictedFeatureName]
    if kept.contains(where: { !$0.isEmpty && predicted.contains($0) }) {
      for name in predicted where !kept.contains(name) && !name.isEmpty { kept.append(name) }
    } else {
      description.predictedFeatureName = ""
      description.predictedProbabilitiesName = ""
    }
    description.output = kept.compactMap { name in
      old.output.first { $0.name == name }
        ?? part.pipeline.models.reversed().firstValue { $0.output(name) }
    }
    let lost = Set((old.input + old.output).map(\.name))
      .subtracting((description.input + description.output).map(\.name))
    for name in lost { description.metadata?.forgetFeature(name) }
    return description
  }

  /// Replaces a pipeline of one model with that model, keeping the pipeline's description and
  /// features.
  private var withoutPipelineOfOne: Model {
    guard pipelineModels.count == 1, var only = pipelineModels.first,
      only.neuralNetwork != nil || only.type?.pipeline != nil
    else { return self }
    var metadata = description?.metadata ?? Metadata()
    if let own = only.description?.metadata {
      metadata.add(own)
      metadata.unknownFields = own.unknownFields
    }
    if only.description?.metadata != nil || description?.metadata != nil {
      only.description?.metadata = metadata
    }
    for path in [\ModelDescription.input, \ModelDescription.output] {
      for (index, feature) in (only.description?[keyPath: path] ?? []).enumerated() {
        let outer = description?[keyPath: path].first { $0.name == feature.name }
        guard feature.shortDescription.isEmpty, let outer else { continue }
        only.description?[keyPath: path][index].shortDescription = outer.shortDescription
      }
    }
    return only
  }
}

/// The models of a pipeline needed to compute certain blobs from others.
private struct PipelinePart {
  private(set) var pipeline: Pipeline
  /// The external inputs of the models, in order of use.
  private(set) var inputs: [FeatureDescription] = []

  init(
    _ whole: Pipeline, from inputs: [BlobPath], to outputs: [BlobPath], shapes: BlobShapes,
    dataType: ArrayFeatureType.DataType
  ) throws {
    pipeline = whole
    var needed: Set<String> = []
    var kept: [(position: Int, model: Model)] = []
    for (position, model) in whole.models.enumerated().reversed() {
      let produced = (model.description?.output ?? []).map(\.name)
      let starts = inputs.filter { $0.models.first == position }
      let given = Set(starts.map(\.blob)).intersection(produced)
      let inner = starts.filter { !given.contains($0.blob) && !model.takes($0.blob) }
      var wanted = outputs.filter { $0.models.first == position }
      wanted += produced.filter { name in
        needed.contains(name) && !given.contains(name) && !wanted.contains { $0.blob == name }
      }.map { BlobPath($0, models: [position]) }
      needed.subtract(produced)
      if wanted.isEmpty { continue }
      let part = try Self.part(
        model, from: inner.map(\.inside), to: wanted.map(\.inside), shapes, dataType)
      if let beside = given.first(where: { part.output($0) != nil }) {
        throw ModelError(
          .unsupported, "a model that the part needs also computes its input '\(beside)'")
      }
      kept.append((position, part))
      needed.formUnion((part.description?.input ?? []).map(\.name))
    }
    kept.reverse()
    guard !kept.isEmpty else {
      throw ModelError(.mismatch, "there are no layers between the blobs")
    }
    pipeline.models = kept.map(\.model)
    if whole.names.count == whole.models.count {
      pipeline.names = kept.map { whole.names[$0.position] }
    }
    var available: Set<String> = []
    for model in pipeline.models {
      for input in model.description?.input ?? [] where available.insert(input.name).inserted {
        self.inputs.append(input)
      }
      available.formUnion((model.description?.output ?? []).map(\.name))
    }
  }

  /// The model, cut if the part starts or ends inside it or does not need all of its outputs.
  private static func part(
    _ model: Model, from inputs: [BlobPath], to outputs: [BlobPath], _ shapes: BlobShapes,
    _ dataType: ArrayFeatureType.DataType
  ) throws -> Model {
    let predicted = [
      model.description?.predictedFeatureName, model.description?.predictedProbabilitiesName,
    ].compactMap { $0 }
    var wanted = Set(outputs.map(\.blob))
    if !wanted.isDisjoint(with: predicted) { wanted.formUnion(predicted) }
    let produced = Set((model.description?.output ?? []).map(\.name))
    let isWhole = inputs.isEmpty && wanted.subtracting([""]) == produced
    let isCut = model.neuralNetwork != nil || model.type?.pipeline != nil
    if isWhole || !isCut { return model }
    return try model.cut(from: inputs, to: outputs, shapes: shapes, dataType: dataType)
  }
}
