import CoreMLModel
import Imaging
import TensorCore

/// The inputs and outputs of a model, and the conversion of values between the user's form and the
/// network's blobs. It does not contain the network.
package struct ModelInterface: Sendable {
  package let inputs: [FeatureDescription]
  package let features: [String: Feature]
  package let outputs: [Feature]
  /// The interfaces of a pipeline's models; empty for a network.
  private let members: [ModelInterface]
  private let isExact: Bool
  /// The blobs of optional inputs without a value, if the model declares them.
  private let defaults: [String: Tensor]
  /// Recorded layouts by metadata key.
  private let recorded: [String: String]
  private let probabilitiesBlob: String?
  /// The output for a classifier's best label, which is not a blob.
  private let labelOutput: String?
  private let thresholdInputs: Set<String>

  package init(
    _ model: Model, layout: ArrayLayout = .source, images: ImageOptions = ImageOptions(),
    members: [ModelInterface] = []
  ) {
    let description = model.description ?? ModelDescription()
    inputs = description.input
    self.members = members
    recorded = layout == .source ? description.metadata?.userDefined ?? [:] : [:]
    thresholdInputs = model.thresholdInputs
    isExact = model.neuralNetwork?.arrayInputShapeMapping == .exact
    probabilitiesBlob = model.probabilitiesBlob
    defaults = Dictionary(
      first: description.input.compactMap { input in
        model.neuralNetwork.flatMap(input.defaultBlob).map { (input.name, $0) }
      })
    labelOutput = model.classLabels == nil ? nil : description.predictedFeatureName
    features = Dictionary(
      first: inputs.map { input in
        let own = Feature(input, in: model, layout: layout, images: images)
        return (input.name, members.firstValue { $0.features[input.name] } ?? own)
      })
    outputs = description.output.map { output in
      members.reversed().firstValue { $0.output(output.name) }
        ?? Feature(output, in: model, layout: layout)
    }
  }

  package func output(_ name: String) -> Feature? { outputs.first { $0.name == name } }

  /// The blob for each value; every required input needs one.
  package func blobs(_ values: [String: FeatureValue]) throws -> [String: Tensor] {
    try requireNames(values)
    var blobs: [String: Tensor] = [:]
    for (name, value) in values { blobs[name] = try features[name]?.blob(value) }
    return blobs
  }

  /// Adds the declared defaults of optional inputs without a blob.
  func completed(_ blobs: [String: Tensor]) -> [String: Tensor] {
    defaults.isEmpty ? blobs : blobs.merging(defaults) { given, _ in given }
  }

  /// - Throws: `.mismatch` if a value has no input, or a required input has no value.
  func requireNames(_ values: [String: FeatureValue]) throws {
    let unknown = values.keys.filter { features[$0] == nil && !thresholdInputs.contains($0) }
    if let name = unknown.min() {
      throw ModelError.unknown("input", name, among: inputs.map(\.name))
    }
    let missing = inputs.filter {
      $0.type?.isOptional != true && values[$0.name] == nil && !thresholdInputs.contains($0.name)
    }
    try require(
      missing.isEmpty, .mismatch,
      "no value for input \(missing.map(\.name).joined(separator: ", "))",
      hint: "give NAME=FILE for each input")
  }

  /// The blobs of each batch item.
  package func batchItems(_ blobs: [String: Tensor]) throws -> [[String: Tensor]] {
    let items = Dictionary(
      uniqueKeysWithValues: blobs.map { ($0, features[$0]?.items($1) ?? [$1]) })
    if let name = items.filter({ $0.value.isEmpty }).keys.min() {
      throw ModelError(.mismatch, "an array without items", field: name)
    }
    let count = items.values.map(\.count).max() ?? 1
    try require(
      items.values.allSatisfy { $0.count == count || $0.count == 1 }, .mismatch,
      "the inputs have different batch sizes")
    return (0..<count).map { index in items.mapValues { $0.count == 1 ? $0[0] : $0[index] } }
  }

  /// Assembles the prediction, in the user's form, from the blobs of each batch item.
  ///
  /// - Parameter kept: blobs to show in addition to the outputs.
  package func prediction(_ items: [[String: Tensor]], kept: [String] = []) -> Prediction {
    func blob(_ name: String) -> Tensor? {
      let parts = items.compactMap { $0[name] }
      guard parts.count == items.count else { return nil }
      let owner = members.last { $0.output(name) != nil } ?? self
      let feature = owner.output(name) ?? Feature(blob: name, layout: nil, isExact: owner.isExact)
      return feature.batch(parts)
    }
    var prediction = Prediction()
    for feature in outputs where feature.name != labelOutput {
      if case .dictionary = feature.type.kind, let name = probabilitiesBlob,
        let probabilities = blob(name)
      {
        let value = feature.value(probabilities)
        prediction.outputs.append(PredictedOutput(name: feature.name, kind: .classes, value: value))
      } else if let found = blob(feature.name) {
        let kind: PredictedOutput.Kind =
          if case .image = feature.type.kind { .image } else { .array }
        prediction.outputs.append(
          PredictedOutput(
            name: feature.name, kind: kind, value: feature.value(found),
            channels: feature.channelAxis))
      }
    }
    var names = Set(prediction.outputs.map(\.name))
    for name in kept where names.insert(name).inserted {
      if let found = blob(name) {
        let feature = intermediate(name)
        prediction.outputs.append(
          PredictedOutput(
            name: name, kind: .blob, value: feature.value(found), channels: feature.channelAxis))
      }
    }
    return prediction
  }

  /// A blob inside the network, in the source framework's layout if the importer recorded it.
  private func intermediate(_ blob: String) -> Feature {
    Feature(
      blob: blob,
      layout: recorded[SourceLayout.metadataPrefix + blob] ?? recorded[SourceLayout.blobKey],
      isExact: isExact)
  }
}
