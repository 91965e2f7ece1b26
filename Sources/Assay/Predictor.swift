import CoreMLModel
import CustomLayers
import Engine
import Imaging
import ModelTransforms
import TensorCore

/// A loaded model that answers in the terms of a user: pictures and arrays in, arrays, pictures and
/// classes out.
public final class Predictor {
  public struct Options: Sendable {
    public var layout = ArrayLayout.source
    /// What happens to pictures before the model gets them; nil for what the model records.
    public var pictures: PictureOptions?
    /// Blobs to answer beside the outputs.
    public var keep = CompileOptions.Keep.named([])
    public var engine = CompileOptions()
    /// Whether an LSTM's `forgetBias` adds 1.
    public var forgetBias = ForgetBias.ignore

    public init() {}
  }

  public let model: Model
  public let inputs: [FeatureDescription]
  /// What happens to pictures before the model gets them.
  public let pictures: PictureOptions
  let options: Options
  let features: [String: Feature]
  let outputs: [Feature]
  /// The predictors of a pipeline's models; empty for a network.
  let members: [Predictor]
  private var compiled: (shapes: [String: [Int]], network: CompiledNetwork)?
  /// One for all shapes: a custom layer keeps its state.
  private let customLayerInstances = CustomLayerInstances()

  /// - Throws: `ModelError` where the model is no neural network, is not valid, or needs a layer
  ///   that nobody implements.
  public init(model: Model, options: Options = Options()) throws {
    let model = options.forgetBias == .add ? try model.withForgetBiasInWeights() : model
    self.model = model
    self.options = options
    if let type = model.firstTypeThatDoesNotRun {
      throw ModelError(
        .unsupported,
        type == model.typeName
          ? "a model of type \(type) cannot be run"
          : "a pipeline with a model of type \(type) cannot be run",
        hint: "only neural networks run here; `assay inspect` shows the others")
    }
    let description = model.description ?? ModelDescription()
    let pictures = try options.pictures ?? PictureOptions(recordedIn: model)
    self.pictures = pictures
    inputs = description.input
    var memberOptions = options
    memberOptions.keep = .named([])
    memberOptions.pictures = pictures
    let members = try model.pipelineModels.map {
      try Predictor(model: $0, options: memberOptions)
    }
    self.members = members
    features = Dictionary(
      inputs.map { input in
        let own = Feature(input, in: model, layout: options.layout, pictures: pictures)
        return (input.name, members.lazy.compactMap { $0.features[input.name] }.first ?? own)
      },
      uniquingKeysWith: { first, _ in first })
    outputs = description.output.map { output in
      members.lazy.reversed().compactMap { $0.output(output.name) }.first
        ?? Feature(output, in: model, layout: options.layout)
    }
  }

  func output(_ name: String) -> Feature? { outputs.first { $0.name == name } }

  /// Predicts for every item of the batch that the inputs hold; of ten crops of a picture it gives
  /// the mean.
  public func predict(_ values: [String: FeatureValue]) throws -> Prediction {
    let items = try batchItems(blobs(values)).map(outputBlobs)
    return assembled(averagesItems(of: values) ? [Tensor.mean(items)] : items)
  }

  /// The outputs of one item, and the blobs that are kept beside them.
  func outputBlobs(_ blobs: [String: Tensor]) throws -> [String: Tensor] {
    members.isEmpty ? try network(for: blobs).predict(blobs) : try passOn(blobs)
  }

  /// Whether the items of the batch are crops of one picture.
  func averagesItems(of values: [String: FeatureValue]) -> Bool {
    pictures.firstSide != nil && pictures.crops == .ten
      && values.values.contains { if case .image = $0 { true } else { false } }
  }

  /// The blobs of each item of the batch.
  func batchItems(_ blobs: [String: Tensor]) throws -> [[String: Tensor]] {
    func length(_ name: String, _ blob: Tensor) -> Int {
      features[name]?.batchAxis.map { blob.shape[$0] } ?? 1
    }
    let count = max(1, blobs.map { length($0.key, $0.value) }.max() ?? 1)
    return try (0..<count).map { index in
      var item = blobs
      for (name, blob) in blobs {
        let own = length(name, blob)
        guard own == count || own == 1 else {
          throw ModelError(.mismatch, "the inputs have batches of different length")
        }
        if own > 1, let axis = features[name]?.batchAxis {
          item[name] = blob.batchItem(index, axis: axis)
        }
      }
      return item
    }
  }

  /// The blob of each value; every required input must have one.
  public func blobs(_ values: [String: FeatureValue]) throws -> [String: Tensor] {
    var blobs: [String: Tensor] = [:]
    for (name, value) in values {
      guard let feature = features[name] else {
        throw ModelError(
          .mismatch, "the model has no input '\(name)'",
          hint: "its inputs are \(inputs.map(\.name).joined(separator: ", "))")
      }
      blobs[name] = try feature.blob(value)
    }
    let missing = inputs.filter { $0.type?.isOptional != true && blobs[$0.name] == nil }
    guard missing.isEmpty else {
      throw ModelError(
        .mismatch, "no value for input \(missing.map(\.name).joined(separator: ", "))",
        hint: "give NAME=FILE for each input")
    }
    return blobs
  }

  /// Values for every required input, equally distributed over 0...255 for a picture and over
  /// −1...1 for an array, the same for the same seed; of a sequence as many steps as the source
  /// framework takes.
  ///
  /// - Parameter shapes: shapes that some of them have instead.
  public func randomBlobs(
    seed: UInt64, shapes: [String: [Int]] = [:]
  ) throws -> [String: Tensor] {
    var generator = SplitMix64(seed: seed)
    var blobs: [String: Tensor] = [:]
    for input in inputs where input.type?.isOptional != true {
      let isImage = if case .image = input.type?.kind { true } else { false }
      let range: ClosedRange<Float> = isImage ? 0...255 : -1...1
      guard let shape = shapes[input.name] ?? model.typicalShape(of: input) else {
        throw ModelError(
          .unsupported, "no random values for an input of this type", field: input.name)
      }
      let count = try checkedProduct(shape, limit: Limits.tensorElements)
      blobs[input.name] = Tensor(
        shape: shape, (0..<count).map { _ in Float.random(in: range, using: &generator) })
    }
    return blobs
  }

  /// The network, compiled for inputs of the shapes of `blobs`.
  package func network(for blobs: [String: Tensor]) throws -> CompiledNetwork {
    guard members.isEmpty else {
      throw ModelError(
        .unsupported, "a pipeline is no single network", hint: "its models can be timed one by one")
    }
    let shapes = blobs.mapValues(\.shape)
    if let compiled, compiled.shapes == shapes { return compiled.network }
    let network = try CompiledNetwork(model: model, options: engineOptions(for: shapes))
    compiled = (shapes, network)
    return network
  }

  /// How the network is compiled for inputs of these shapes.
  func engineOptions(for shapes: [String: [Int]]) -> CompileOptions {
    var engineOptions = options.engine
    engineOptions.inputShapes = shapes
    engineOptions.customLayerInstances = options.engine.customLayerInstances ?? customLayerInstances
    if case .named(var names) = options.keep {
      if let blob = model.probabilitiesBlob { names.insert(blob) }
      engineOptions.keep = .named(names)
    } else {
      engineOptions.keep = .all
    }
    return engineOptions
  }

  func assembled(_ items: [[String: Tensor]]) -> Prediction {
    func blob(_ name: String) -> Tensor? {
      let parts = items.compactMap { $0[name] }
      guard parts.count == items.count else { return nil }
      let owner = members.last { $0.output(name) != nil } ?? self
      let axis = owner.isExact ? output(name)?.exactLayout?.batchAxis ?? 0 : 1
      return Tensor.batch(parts, axis: axis)
    }
    var prediction = Prediction()
    let description = model.description ?? ModelDescription()
    for feature in outputs {
      if feature.name == description.predictedFeatureName, model.classLabels != nil { continue }
      if case .dictionary = feature.type.kind, let name = model.probabilitiesBlob,
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
    let kept = compiled?.network.keptBlobs.map(\.name) ?? []
    for name in kept where !prediction.outputs.contains(where: { $0.name == name }) {
      if isWanted(name), let found = blob(name) {
        prediction.outputs.append(
          PredictedOutput(
            name: name, kind: .blob, value: intermediate(found),
            channels: isExact ? nil : hasChannelsLast ? .last : .first))
      }
    }
    return prediction
  }

  private var isExact: Bool { model.neuralNetwork?.arrayInputShapeMapping == .exact }

  private func isWanted(_ blob: String) -> Bool {
    switch options.keep {
    case .all: true
    case .named(let names): names.contains(blob)
    }
  }

  /// Whether the source framework had channels last.
  private var hasChannelsLast: Bool {
    !isExact && options.layout == .source
      && (outputs.contains { $0.sourceLayout?.axes.last == .channels }
        || features.values.contains { $0.sourceLayout?.axes.last == .channels })
  }

  /// A blob inside the network, channels last where the source had them last.
  private func intermediate(_ blob: Tensor) -> Tensor {
    if isExact { return blob }
    guard hasChannelsLast, blob.shape.count == 5 else {
      return CoreMLLayout.array(blob, rank: nil)
    }
    let letters =
      blob.shape[0] > 1 ? "NTC" : blob.shape[3] == 1 && blob.shape[4] == 1 ? "NC" : "NHWC"
    return SourceLayout(letters)?.source(blob) ?? blob
  }
}

/// The outputs of a prediction, in the model's order, then the kept blobs.
public struct Prediction: Sendable {
  public var outputs: [PredictedOutput] = []

  public init() {}
}

public struct PredictedOutput: Sendable {
  public enum Kind: Sendable {
    case array
    /// `[H, W, C]` in RGB, neither rounded nor clamped.
    case image
    /// A classifier's probabilities in the order of the labels.
    case classes
    /// Not an output of the model: a blob inside.
    case blob
  }

  public let name: String
  public let kind: Kind
  public let value: Tensor
  /// Where the channels of a picture or grid are among the last three axes; nil where that is not
  /// known.
  package let channels: ChannelAxis?

  package init(name: String, kind: Kind, value: Tensor, channels: ChannelAxis? = nil) {
    self.name = name
    self.kind = kind
    self.value = value
    self.channels = channels
  }
}

extension Model {
  /// The blob that holds a classifier's probabilities.
  public var probabilitiesBlob: String? {
    if case .pipelineClassifier(let pipeline)? = type {
      return pipeline.models.lazy.reversed().compactMap(\.probabilitiesBlob).first
    }
    guard case .neuralNetworkClassifier(let classifier) = type else { return nil }
    let named = classifier.labelProbabilityLayerName
    guard !named.isEmpty else { return classifier.network.layers.last?.output.first }
    // The field's name says "layer"; writers put the blob's name there.
    let layers = classifier.network.layers
    if layers.contains(where: { $0.output.contains(named) }) { return named }
    return layers.last { $0.name == named }?.output.first ?? named
  }

  /// The type of the model, or of the first of a pipeline's models, that is no neural network.
  var firstTypeThatDoesNotRun: String? {
    if neuralNetwork != nil { return nil }
    let models = pipelineModels
    return models.isEmpty ? typeName : models.lazy.compactMap(\.firstTypeThatDoesNotRun).first
  }

  /// The name of the model's type in the specification.
  public var typeName: String {
    switch type {
    case .neuralNetwork: "neuralNetwork"
    case .neuralNetworkClassifier: "neuralNetworkClassifier"
    case .neuralNetworkRegressor: "neuralNetworkRegressor"
    case .pipeline: "pipeline"
    case .pipelineClassifier: "pipelineClassifier"
    case .pipelineRegressor: "pipelineRegressor"
    case .opaque(let message): message.name ?? "number \(message.field)"
    case nil: "unknown"
    }
  }
}
