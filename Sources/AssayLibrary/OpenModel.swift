import Assay
import CAssay

/// A model that C code has opened.
final class OpenModel: Handle {
  static let kind = "model"
  let predictor: Predictor
  let interface: Interface

  init(path: String, _ given: assay_options, _ call: Call) throws {
    var options = try Predictor.Options(given)
    let weights = given.weights.map { String(cString: $0) }
    let resize = given.resize.map { String(cString: $0) }
    let fitting = resize.flatMap(Fitting.init)
    try require(
      (resize == nil) == (fitting == nil), .usage, "unknown resize '\(resize ?? "")'",
      field: "options")
    options.keepsStates = true
    options.engine.hooks.onFinding = { Call.current?.warn($0.error.inFile(path).description) }
    predictor = try inFile(path) {
      let source = try ModelSource(contentsOf: path, weights: weights)
      let model = try source.weightedModel(
        customLayers: options.engine.customLayers,
        function: given.function.map { String(cString: $0) }, onWarning: call.warn)
      if let note = model.nonFiniteNote(file: source.weightsFile(path, weights)) { call.warn(note) }
      if let fitting {
        options.images = try ImageOptions(recordedIn: model)
        options.images?.bring(into: fitting)
      }
      return try Predictor(model: model, options: options)
    }
    interface = Interface(predictor, call)
  }

  /// Makes one prediction, which reads and updates `state`.
  func predict(
    _ inputs: [assay_value], _ state: ModelState?, _ call: Call
  ) throws -> PredictedValues {
    let model = predictor.model
    var reader = InputReader(model)
    var states = try state?.values(for: self) ?? [:]
    var values: [String: FeatureValue] = [:]
    for input in inputs {
      let (name, value) = try reader.read(input)
      values[name] = value
    }
    let borrowed = reader.borrowed
    if state == nil, predictor.hasProgramStates {
      call.warn("no state was given: the states start as zeros, and their new values are lost")
    }
    guard !model.usesFeatures else {
      return PredictedValues(try predictor.features(values), of: model, borrowed, call)
    }
    let prediction = try predictor.predict(values, &states)
    state?.set(states.mapValues(borrowed.owned))
    return PredictedValues(prediction.features(model), of: model, borrowed, call)
  }
}

extension Predictor.Options {
  /// - Throws: `.usage` if a field is invalid, or the error of a plug-in that cannot be loaded.
  init(_ options: assay_options) throws {
    self.init()
    try require(options.threads >= 0, .usage, "threads is \(options.threads)", field: "options")
    engine.threads = options.threads == 0 ? nil : Int(options.threads)
    engine.maxMemory = options.max_memory == 0 ? nil : Int(clamping: options.max_memory)
    switch Int(options.layout) {
    case ASSAY_LAYOUT_SOURCE: layout = .source
    case ASSAY_LAYOUT_COREML: layout = .coreml
    default:
      throw ModelError(.usage, "unknown layout \(options.layout)", field: "options")
    }
    for index in 0..<max(0, options.plugin_count) {
      let path = try argument(options.plugins, "options.plugins")[index]
      try PluginLibrary(path: String(cString: argument(path, "options.plugins")))
        .register(in: &engine.customLayers)
    }
  }
}
