import CoreMLModel
import Engine
import ModelPrediction
import TensorCore
import Verification

/// The effect of half precision on a network: where it overflows or loses most accuracy, and which
/// layers to keep in single precision. The baseline is the same network in single precision.
public struct HalfPrecisionStudy: Sendable {
  /// The error of one half-precision layer on single-precision inputs.
  public struct Layer: Sendable {
    /// The layer's name.
    public let name: String
    /// Its type in the specification.
    public let type: String
    /// The largest absolute error of its results, relative to their largest value.
    public internal(set) var error: Double
    /// The number of values that are infinite or NaN only in half precision.
    public internal(set) var overflowCount: Int
  }

  /// The outputs of the network in half precision, for each input.
  public let outputs: [[OutputComparison]]
  /// The layers that could be run alone: first those with values beyond half precision, then by
  /// descending error.
  public let layers: [Layer]
  /// The smallest set of layers found that keeps all outputs within their tolerances if it computes
  /// in single precision, in the order of the network.
  public let kept: [String]
  /// Whether each of `kept` was found to be needed.
  public let isMinimal: Bool

  /// Whether all outputs are within their tolerances without any layer in single precision.
  public var agrees: Bool { outputs.joined().allSatisfy(\.agrees) }

  /// - Parameters:
  ///   - model: the model to run in half precision.
  ///   - words: inputs as on a command line, at most the first four; none for random ones.
  ///   - options: `precision` is the precision to study; `tolerances` are those of the outputs.
  ///   - seed: the seed for random inputs.
  ///   - budget: the search for layers ends after this time.
  /// - Throws: `ModelError` if the model does not run, or an input does not fit.
  public init(
    _ model: Model, inputs words: [String], options: Comparison.Options, seed: UInt64 = 0,
    budget: Duration = .seconds(60)
  ) throws {
    let clock = ContinuousClock()
    let end = clock.now + budget
    var options = options
    if words.isEmpty {
      options.layout = .coreml
      options.engine.hooks = options.engine.hooks.forRandomInputs
    }
    let network = HalfPrecisionNetwork(model: model, options: options)
    let single = try network.predictor(.float32, keep: .all)
    let inputs =
      words.isEmpty
      ? [try single.randomValues(seed: seed)]
      : try InputList(words, for: model).prefix(4).map {
        try $0.read(for: model, images: options.images, hooks: options.engine.hooks)
      }
    let expected = try inputs.map { try single.predict($0) }
    let trial = HalfPrecisionTrial(network: network, inputs: inputs, expected: expected)
    outputs = try trial.outputs(keeping: [])
    layers = network.layers(single.model, inputs, expected)
    guard !outputs.joined().allSatisfy(\.agrees) else {
      (kept, isMinimal) = ([], true)
      return
    }
    (kept, isMinimal) = try trial.search(
      layers, all: network.layerNames(single.model)
    ) { clock.now < end }
  }
}

extension Predictor {
  /// Random values for every required input, in the layout of the predictor's options.
  ///
  /// - Parameter whole: whether an input gets integers although it accepts other values.
  func randomValues(
    seed: UInt64, whole: (String) -> Bool = { _ in false }
  ) throws -> [String: FeatureValue] {
    var values: [String: FeatureValue] = [:]
    for (name, blob) in try randomBlobs(seed: seed, whole: whole) {
      values[name] = .array(interface.features[name]?.value(blob) ?? blob)
    }
    return values
  }
}

/// A model to run in different precisions.
struct HalfPrecisionNetwork {
  let model: Model
  let options: Comparison.Options

  func predictor(
    _ precision: ComputePrecision, keep: CompileOptions.Keep = .named([]),
    keptInFloat32: Set<String> = []
  ) throws -> Predictor {
    var predictorOptions = options.predictor
    predictorOptions.precision = precision
    predictorOptions.keptInFloat32.formUnion(keptInFloat32)
    predictorOptions.keep = keep
    return try Predictor(model: model, options: predictorOptions)
  }

  /// The layers that compute, including those of nested networks.
  func layerNames(_ network: Model) -> [String] {
    func names(_ layers: [NeuralNetworkLayer]) -> [String] {
      layers.flatMap { layer in
        (layer.parameters as? any ControlLayer).map { $0.networks.flatMap { names($0.layers) } }
          ?? [layer.name]
      }
    }
    return names(network.neuralNetwork?.layers ?? [])
  }

  /// The separate error of each layer, largest first.
  func layers(
    _ network: Model, _ inputs: [[String: FeatureValue]], _ expected: [Prediction]
  ) -> [HalfPrecisionStudy.Layer] {
    var found: [String: HalfPrecisionStudy.Layer] = [:]
    let layers = network.neuralNetwork?.layers ?? []
    for (values, prediction) in zip(inputs, expected) {
      let known = Dictionary(first: prediction.outputs.map { ($0.name, $0.value) })
      let metrics = LayerErrors(network, known: known, inputs: values, options: options.predictor)
        .metrics
      for layer in layers {
        let own = layer.output.compactMap { metrics[$0] }
        guard !own.isEmpty else { continue }
        let name = layer.name
        var entry =
          found[name]
          ?? .init(name: name, type: layer.parameters?.typeName ?? "", error: 0, overflowCount: 0)
        entry.error = own.reduce(entry.error) { max($0, $1.relativeToLargest) }
        entry.overflowCount += own.reduce(0) { $0 + $1.countNotFinite }
        found[name] = entry
      }
    }
    return layers.compactMap { found.removeValue(forKey: $0.name) }.enumerated().sorted {
      let (a, b) = ($0.element, $1.element)
      if a.overflowCount > 0 || b.overflowCount > 0, a.overflowCount != b.overflowCount {
        return a.overflowCount > b.overflowCount
      }
      return a.error != b.error ? a.error > b.error : $0.offset < $1.offset
    }.map(\.element)
  }
}
