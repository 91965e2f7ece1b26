import TensorCore

/// A part of a model that requires a version of the format.
package struct VersionDemand: Sendable, Equatable {
  /// For example `layer 'fc' (innerProduct)`.
  package var part: String
  package var version: Int
  package var reason: String
}

extension Model {
  /// - Throws: `.mismatch` with every part that requires a later version than `version`, and the
  ///   reason.
  package func requireVersion(atMost version: Int) throws {
    guard (1...SpecificationVersion.newest).contains(version) else {
      throw ModelError(
        .mismatch, "unknown specification version \(version)",
        hint: "known versions are 1 to \(SpecificationVersion.newest)")
    }
    let demands = demands(above: version)
    guard demands.isEmpty else {
      let lines = demands.map { "\($0.part) needs version \($0.version): it \($0.reason)" }
      throw ModelError(
        .mismatch, "the model cannot have version \(version)",
        field: "specificationVersion", hint: lines.joined(separator: "\n"))
    }
  }

  /// The parts of the model that require a later version of the format than `version`.
  package func demands(above version: Int) -> [VersionDemand] {
    var demands: [VersionDemand] = []
    func need(_ part: String, _ needed: Int, _ reason: @autoclosure () -> String) {
      if needed > version {
        demands.append(VersionDemand(part: part, version: needed, reason: reason()))
      }
    }
    for (kind, features) in [
      ("input", description?.input ?? []), ("output", description?.output ?? []),
    ] {
      for feature in features {
        need(
          "\(kind) '\(feature.name)'", feature.minimumSpecificationVersion, feature.versionReason)
      }
    }
    if isUpdatable || !(description?.trainingInput.isEmpty ?? true) {
      need("the model", 4, "is updatable")
    }
    if case .features(let model)? = type {
      let parameters = model.parameters
      need(
        "the model", Swift.type(of: parameters).specificationVersion,
        "is of type \(parameters.typeName)")
      if let suppression = parameters as? NonMaximumSuppressionModel {
        for feature in (description?.input ?? []) + (description?.output ?? [])
        where suppression.boxFeatures.contains(feature.name) {
          guard case .multiArray(let array)? = feature.type?.kind, array.dataType != .double else {
            continue
          }
          need("'\(feature.name)'", 5, "has boxes or scores of another type than double")
        }
      }
    }
    if case .mlProgram? = type { need("the model", specificationVersion, "is an ML Program") }
    if case .opaque(let message)? = type {
      need(
        "the model", specificationVersion,
        "is of type \(message.name ?? "number \(message.field)"), which is not supported")
    }
    if let network = neuralNetwork {
      if network.arrayInputShapeMapping != .rank5 || network.imageInputShapeMapping != .rank5 {
        need("the network", 4, "has arrays of exact ranks")
      }
      if network.updateParams != nil { need("the network", 4, "has training parameters") }
      for layer in network.layers {
        let part = "layer '\(layer.name)' (\(layer.parameters?.specificationTypeName ?? "no type"))"
        need(part, layer.minimumSpecificationVersion, layer.versionReason)
        if layer.parameters is OpaqueLayer {
          need(part, specificationVersion, "is of an unsupported type")
        }
      }
    }
    for (index, model) in pipelineModels.enumerated() {
      demands += model.demands(above: version).map {
        VersionDemand(
          part: "model \(pipelineName(index)): \($0.part)", version: $0.version, reason: $0.reason)
      }
    }
    return demands
  }
}

extension FeatureDescription {
  fileprivate var versionReason: String {
    switch type?.kind {
    case .image(let image):
      image.colorSpace == .grayscaleFloat16 ? "is a half-precision image" : "has a flexible size"
    case .multiArray(let array):
      switch array.dataType {
      case .int8: "is of type int8"
      case .float16: "is of type float16"
      default: array.defaultValue != nil ? "has a default value" : "has a flexible shape"
      }
    default: "is of a newer type"
    }
  }
}

extension NeuralNetworkLayer {
  fileprivate var versionReason: String {
    guard let parameters else { return "" }
    let needed = minimumSpecificationVersion
    if Swift.type(of: parameters).specificationVersion == needed {
      return "is of a type introduced in it"
    }
    if parameters.requiredSpecificationVersion == needed { return "uses fields introduced in it" }
    if isUpdatable || parameters.weights.contains(where: { $0.values.isUpdatable }) {
      return "is updatable"
    }
    if parameters.weights.contains(where: { $0.values.int8RawValue.count > 0 }) {
      return "has 8-bit integer weights"
    }
    if parameters.weights.contains(where: { $0.values.rawValue.count > 0 }) {
      return "has quantized weights"
    }
    if parameters.weights.contains(where: { $0.values.float16Value.count > 0 }) {
      return "has half-precision weights"
    }
    switch parameters {
    case is Convolution: return "takes its weights from an input"
    case is Tile, is TopK: return "takes its sizes from an input"
    default: return "uses features introduced in it"
    }
  }
}
