import CoreMLModel
import CustomLayers
import Engine
import Imaging
import MILImport
import ModelTransforms
import Synchronization
import TensorCore

/// A loaded model that predicts in the user's terms: from images and arrays to arrays, images and
/// classes.
public final class Predictor: Sendable {
  /// Options of a prediction.
  public struct Options: Sendable {
    /// The axis order of input and output arrays.
    public var layout = ArrayLayout.source
    /// How images are prepared for the model; nil to use what the model records.
    public var images: ImageOptions?
    /// Blobs to return in addition to the outputs.
    public var keep = CompileOptions.Keep.named([])
    /// Options for compiling the network.
    public var engine = CompileOptions()
    /// Whether predictions accept and return the states of an ML Program; otherwise each starts
    /// with zeros.
    public var keepsStates = false
    /// The precision of the computations of a network or an ML Program.
    public var precision = ComputePrecision.float32
    /// The names of layers that compute in single precision regardless.
    public var keptInFloat32: Set<String> = []

    /// Default options: only the model's outputs, in the source framework's axis order.
    public init() {}
  }

  /// The loaded model; for an ML Program, the equivalent neural network.
  public let model: Model
  /// The model type in the specification.
  public var typeName: String { (program ?? model).typeName }
  /// The inputs in the model's order.
  public var inputs: [FeatureDescription] { interface.inputs }
  /// How images are prepared for the model.
  public let images: ImageOptions
  package let interface: ModelInterface
  let options: Options
  /// The callbacks in the options.
  package var hooks: EngineHooks { options.engine.hooks }
  /// The predictors of a pipeline's models; empty for a network.
  package let members: [Predictor]
  /// The computation of a model that is neither a network nor a pipeline.
  private let runner: FeatureModelRunner?
  private let compiled = Mutex<Compiled?>(nil)
  /// Shared by all shapes, because a custom layer keeps its state.
  private let customLayerInstances = CustomLayerInstances()

  /// The ML Program that `model` was converted from; nil for other models.
  let program: Model?
  /// The program's network if the values of its inputs are unknown.
  private let programNetwork: ProgramNetwork?
  private struct Compiled {
    var shapes: [String: [Int]]
    var network: CompiledNetwork
    /// The states of a program that are inputs and outputs of the network.
    var states: [ProgramNetwork.State]
  }

  /// - Throws: `ModelError` if the model is not a neural network, is invalid, or needs a layer that
  ///   is not implemented.
  public init(model: Model, options: Options = Options()) throws {
    let given = model.forgetBias == .add ? try model.withForgetBiasInWeights() : model
    let selected = try given.selectingFunction(nil)
    programNetwork = try selected.programNetwork()
    program = programNetwork == nil ? nil : selected
    let model = programNetwork?.model ?? selected
    self.model = model
    var options = options
    if options.precision.isHalf {
      options.engine.customLayers.register(HalfRounding.className) { _ in HalfRounding() }
    }
    self.options = options
    if let type = model.firstTypeThatDoesNotRun {
      throw ModelError(
        .unsupported,
        type == model.typeName
          ? "models of type \(type) cannot run"
          : "pipelines with a model of type \(type) cannot run", hint: Model.remedy(forType: type))
    }
    let images = try options.images ?? ImageOptions(recordedIn: model)
    self.images = images
    var memberOptions = options
    memberOptions.keep = .named([])
    // The pipeline itself reports findings about its outputs.
    memberOptions.engine.hooks.onFinding = nil
    memberOptions.images = images
    if model.usesFeatures { memberOptions.layout = .coreml }
    if case .features(let features)? = model.type {
      if options.precision == .fast { throw CompiledNetwork.lacksCodes }
      runner = try FeatureModelRunner(features.parameters, model.description ?? ModelDescription())
    } else {
      runner = nil
    }
    members = try model.pipelineModels.map { try Predictor(model: $0, options: memberOptions) }
    interface = ModelInterface(
      model, layout: options.layout, images: images, members: members.map(\.interface))
  }

  /// Predicts every batch item of the inputs.
  public func predict(_ values: [String: FeatureValue]) throws -> Prediction {
    var states: [String: Tensor] = [:]
    return try predict(values, programStates: &states)
  }

  /// Predicts with the persistent states of an ML Program.
  func predict(
    _ values: [String: FeatureValue], programStates states: inout [String: Tensor]
  ) throws -> Prediction {
    guard !model.usesFeatures else {
      return Prediction(try features(values), of: model.description ?? ModelDescription(), model)
    }
    report(inputs: values)
    return try assembled(items(values) { try outputBlobs($0, &states) })
  }

  /// The outputs of the model by name; those of a network are converted as in a pipeline.
  package func features(_ values: [String: FeatureValue]) throws -> [String: FeatureValue] {
    guard model.usesFeatures else { return try predict(values).features(model) }
    report(inputs: values)
    try interface.requireNames(values)
    let outputs = try runner?.run(values) ?? passOnFeatures(values)
    report(outputs)
    return outputs
  }

  /// The prediction for each batch item of the inputs.
  func items(
    _ values: [String: FeatureValue], _ predict: ([String: Tensor]) throws -> [String: Tensor]
  ) throws -> [[String: Tensor]] {
    try interface.batchItems(interface.blobs(values)).map(predict)
  }

  /// The outputs of one item, and the blobs kept in addition.
  package func outputBlobs(_ blobs: [String: Tensor]) throws -> [String: Tensor] {
    var states: [String: Tensor] = [:]
    return try outputBlobs(blobs, &states)
  }

  private func outputBlobs(
    _ blobs: [String: Tensor], _ states: inout [String: Tensor]
  ) throws -> [String: Tensor] {
    let results: [String: Tensor]
    if members.isEmpty {
      results = try networkBlobs(interface.completed(blobs), &states)
    } else {
      results = try passOn(blobs)
    }
    report(results)
    return results
  }

  /// Runs the network with the persistent states of a program.
  private func networkBlobs(
    _ blobs: [String: Tensor], _ states: inout [String: Tensor]
  ) throws -> [String: Tensor] {
    let compiled = try compiled(forShapes: blobs.mapValues(\.shape), values: blobs)
    var blobs = blobs
    for state in compiled.states {
      blobs[state.name] =
        try states[state.name] ?? Tensor(checkedShape: state.shape) { $0.initialize(repeating: 0) }
    }
    var results = try compiled.network.predict(blobs)
    for state in compiled.states { states[state.name] = results.removeValue(forKey: state.output) }
    return results
  }

  /// Assembles the prediction, in the user's form, from the blobs of each batch item.
  package func assembled(_ items: [[String: Tensor]]) -> Prediction {
    let kept = compiled.withLock { $0?.network.keptBlobs.map(\.name) ?? [] }
    return interface.prediction(items, kept: kept.filter(isWanted))
  }

  private func isWanted(_ blob: String) -> Bool {
    switch options.keep {
    case .all: true
    case .named(let names): names.contains(blob)
    }
  }

  /// Random values for every required input other than thresholds: uniform in 0...255 for an image
  /// and in −1...1 for an array, 1 or 2 for an array of integers. The same seed gives the same
  /// values. A sequence gets the number of steps that the source framework takes.
  ///
  /// - Parameters:
  ///   - shapes: the shapes of inputs that should not have their default shape.
  ///   - whole: whether an input only gets integers, although it accepts other numbers.
  package func randomBlobs(
    seed: UInt64, shapes: [String: [Int]] = [:], whole: (String) -> Bool = { _ in false }
  ) throws -> [String: Tensor] {
    var wanted: [String: [Int]] = [:]
    let thresholds = model.thresholdInputs
    for input in inputs where input.type?.isOptional != true && !thresholds.contains(input.name) {
      let shape = try (shapes[input.name] ?? typicalShape(of: input)).orThrow(
        ModelError(.unsupported, "inputs of this type cannot be random", field: input.name))
      wanted[input.name] = shape
    }
    // Fails if there is not enough memory, before any of it is used.
    if members.isEmpty, !model.usesFeatures, !dependsOnValues {
      _ = try compiled(forShapes: wanted)
    }
    var generator = SplitMix64(seed: seed)
    var blobs: [String: Tensor] = [:]
    for input in inputs {
      guard let shape = wanted[input.name] else { continue }
      let isImage = if case .image = input.type?.kind { true } else { false }
      let range: ClosedRange<Float> = isImage ? 0...255 : -1...1
      let isWhole = input.type?.isWhole == true || whole(input.name)
      blobs[input.name] = try Tensor(checkedShape: shape) { elements in
        for index in elements.indices {
          elements[index] =
            isWhole
            ? Float(Int.random(in: 1...2, using: &generator))
            : Float.random(in: range, using: &generator)
        }
      }
    }
    return blobs
  }

  /// In a pipeline, the first model that takes the input knows its shape.
  private func typicalShape(of input: FeatureDescription) -> [Int]? {
    members.first { $0.model.takes(input.name) }?.typicalShape(of: input)
      ?? model.typicalShape(of: input)
  }

  /// The network, compiled for the shapes of `blobs`.
  package func network(for blobs: [String: Tensor]) throws -> CompiledNetwork {
    try require(
      members.isEmpty, .unsupported, "a pipeline is more than one network",
      hint: "time its models one by one")
    return try compiled(forShapes: blobs.mapValues(\.shape), values: blobs).network
  }

  /// The network, if it is compiled and its predictions are independent of each other.
  var networkForOneThread: CompiledNetwork? {
    guard members.isEmpty, !model.usesFeatures, !dependsOnValues, !options.keepsStates,
      options.engine.hooks.onStep == nil,
      let compiled = compiled.withLock({ $0 }), compiled.states.isEmpty,
      compiled.network.isRepeatable
    else { return nil }
    return compiled.network
  }

  /// - Parameter values: the inputs, on which the sizes of some programs depend.
  private func compiled(
    forShapes shapes: [String: [Int]], values: [String: Tensor]? = nil
  ) throws -> Compiled {
    let known = compiled.withLock { $0?.shapes == shapes ? $0 : nil }
    if let known, !dependsOnValues { return known }
    let prepared = try networkModel(for: shapes, values: values)
    let network = try CompiledNetwork(
      model: prepared.model, options: engineOptions(for: shapes, prepared))
    let result = Compiled(shapes: shapes, network: network, states: prepared.states)
    compiled.withLock { $0 = result }
    return result
  }

  /// Whether the sizes of a program depend on the values of its inputs.
  private var dependsOnValues: Bool { programNetwork?.dependsOnValues ?? false }

  /// A network that is ready to be compiled.
  struct Prepared {
    var model: Model
    /// The states of a program that are inputs and outputs of the network.
    var states: [ProgramNetwork.State]
    /// The first outputs of the layers whose sums are in half precision.
    var halfSums: Set<String> = []
  }

  /// The model of the network for inputs of these shapes. A program becomes one for each set of
  /// shapes and, if sizes depend on input values, one for each set of values.
  func networkModel(
    for shapes: [String: [Int]], values: [String: Tensor]? = nil
  ) throws -> Prepared {
    let isKnown =
      programNetwork?.shapes == shapes && !dependsOnValues && !options.keepsStates
    let network =
      isKnown
      ? programNetwork
      : try program?.programNetwork(
        shapes: shapes, values: values, keepsStates: options.keepsStates)
    if let failure = network?.failure { throw failure }
    var prepared = Prepared(model: network?.model ?? model, states: network?.states ?? [])
    guard options.precision.isHalf else { return prepared }
    let single = SinglePrecision(
      whole: network?.wholeBlobs ?? [], blobs: network?.singleBlobs ?? [],
      layers: options.keptInFloat32)
    let (rounded, blobs) = try prepared.model.roundedToHalf(except: single)
    prepared.model = rounded
    if options.precision == .float16Sums { prepared.halfSums = blobs }
    return prepared
  }

  /// How the network is compiled for inputs of these shapes.
  func engineOptions(for shapes: [String: [Int]], _ prepared: Prepared) -> CompileOptions {
    var engineOptions = options.engine
    engineOptions.halfSums = prepared.halfSums
    engineOptions.usesIntegers = options.precision == .fast
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
}
