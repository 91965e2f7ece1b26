import CoreMLModel
import ImportSupport
import ModelTransforms
import TensorCore

extension Model {
  /// The blob for a user's name: a blob, including a preprocessed input, or the first output of a
  /// layer, after its activation if it has one. Nil if neither exists.
  package func blob(named name: String) -> String? {
    let layers = neuralNetwork?.layers ?? []
    if layers.contains(where: { $0.output.contains(name) }) { return name }
    let layer =
      layers.last { $0.name == name + "__activation__" } ?? layers.last { $0.name == name }
    if let layer { return layer.output.first }
    let feature = feature(meantBy: name)
    if feature != name { return blob(named: feature) }
    return blobNames.contains(name) || takes(name) ? name : nil
  }

  /// The input or output that a user's name means; the name itself if there is none.
  package func feature(meantBy name: String) -> String {
    let (inputs, outputs) = (description?.input.map(\.name), description?.output.map(\.name))
    if outputs?.contains(name) == true { return name }
    return FeatureNames.input.meant(by: name, among: inputs ?? [])
      ?? FeatureNames.output.meant(by: name, among: outputs ?? []) ?? name
  }

  /// The blobs that a network's layers or a program's operations compute, in order.
  package var blobNames: [String] {
    guard case .mlProgram(let program)? = type else {
      return neuralNetwork?.layers.flatMap(\.output) ?? []
    }
    let body = program.function(description?.programFunction ?? "main")?.body
    return body?.operations.flatMap { $0.outputs.map(\.name) } ?? []
  }
}

extension Model {
  /// The location of the blob or feature for a user's name. In a pipeline: a feature of one of its
  /// models, `MODEL/BLOB`, or a blob that only one model has.
  ///
  /// - Throws: `.mismatch` if there is none, or more than one.
  func position(of name: String) throws -> BlobPath {
    let positions = positions(of: name)
    if positions.count == 1, let position = positions.first { return position }
    guard positions.isEmpty else {
      let names = positions.map { "'\(pathText($0.models))/\(name)'" }
      throw ModelError(
        .mismatch, "several models of the pipeline have a blob '\(name)'",
        hint: "write " + names.joined(separator: " or "))
    }
    throw ModelError(
      .mismatch, "the model has no layer or blob '\(name)'",
      hint: "list them with `assay inspect`"
        + (pipelineModels.isEmpty ? "" : "; in a pipeline, write MODEL/BLOB"))
  }

  private func positions(of name: String) -> [BlobPath] {
    let models = pipelineModels
    guard !models.isEmpty else {
      if featureNames.contains(name) { return [BlobPath(name)] }
      return blob(named: name).map { [BlobPath($0)] } ?? []
    }
    if let owner = owner(ofFeature: name) { return [BlobPath(name, models: [owner])] }
    func inside(_ index: Int, _ name: some StringProtocol) -> [BlobPath] {
      models[index].positions(of: String(name)).map {
        BlobPath($0.blob, models: [index] + $0.models)
      }
    }
    for index in models.indices {
      let prefix = pipelineName(index) + "/"
      guard name.hasPrefix(prefix) else { continue }
      let positions = inside(index, name.dropFirst(prefix.count))
      if !positions.isEmpty { return positions }
    }
    return models.indices.flatMap { inside($0, name) }
  }

  /// `MODEL`, or `MODEL/MODEL` for a nested pipeline.
  private func pathText(_ positions: [Int]) -> String {
    guard let first = positions.first, pipelineModels.indices.contains(first) else { return "" }
    let rest = pipelineModels[first].pathText(Array(positions.dropFirst()))
    return pipelineName(first) + (rest.isEmpty ? "" : "/" + rest)
  }
}
