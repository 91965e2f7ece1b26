import Assay
import CAssay

/// A model that C code has opened.
final class OpenModel: Handle {
  static let kind = "model"
  let predictor: Predictor
  let interface: Interface

  /// - Parameter function: the function of an ML Program; nil for its default.
  init(
    path: String, _ options: Predictor.Options, weights: String?, function: String?,
    _ call: Call
  ) throws {
    var options = options
    options.keepsStates = true
    options.engine.hooks.onFinding = { Call.current?.warn($0.error.inFile(path).description) }
    predictor = try inFile(path) {
      let source = try ModelSource(contentsOf: path, weights: weights)
      let model = try source.weightedModel(
        customLayers: options.engine.customLayers, function: function, onWarning: call.warn)
      if let note = model.nonFiniteNote(file: source.weightsFile(path, weights)) { call.warn(note) }
      return try Predictor(model: model, options: options)
    }
    interface = Interface(predictor, call)
  }

  /// One prediction, which reads and changes `state`.
  func predict(
    _ inputs: UnsafeBufferPointer<assay_value>, _ state: ModelState?, _ call: Call
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

extension assay_options {
  /// The options at an address, in this or an earlier version of the header; missing ones are zero.
  ///
  /// - Throws: `.usage` if no version has this size.
  init(at given: UnsafePointer<assay_options>?) throws {
    self.init()
    guard let given else { return }
    let size = UnsafeRawPointer(given).loadUnaligned(as: Int.self)
    // The fields after `max_memory` were added later.
    let first = MemoryLayout<assay_options>.offset(of: \.function) ?? 0
    let whole = MemoryLayout<assay_options>.size
    try require(
      size == first || size == whole, .usage, "size is \(size), not sizeof(assay_options)",
      field: "options")
    withUnsafeMutableBytes(of: &self) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: given, count: size))
    }
  }
}

extension Predictor.Options {
  /// - Throws: `.usage` if a field has no meaning; whatever a plug-in that cannot be loaded throws.
  init(_ options: assay_options) throws {
    self.init()
    try require(
      options.threads >= 0, .usage, "threads is \(options.threads)", field: "options")
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
