import Assay
import CAssay

/// A model that C has opened.
final class OpenModel: Handle, Sendable {
  let predictor: Predictor
  /// What `assay_describe` returns.
  var description: UnsafePointer<assay_description> { interface.description }
  private let interface: Interface

  init(path: String, _ options: Predictor.Options, weights: String?) throws {
    predictor = try inFile(path) {
      let source = try ModelSource(contentsOf: path, weights: weights)
      return try Predictor(
        model: source.weightedModel(customLayers: options.engine.customLayers), options: options)
    }
    interface = Interface(predictor.model, layout: options.layout)
  }

  /// One prediction, which reads and changes `state`.
  func predict(
    _ inputs: UnsafeBufferPointer<assay_value>, _ state: ModelState?
  ) throws -> PredictedValues {
    let model = predictor.model
    var reader = ValueReader(model)
    var values = try state?.values(for: self) ?? [:]
    for input in inputs {
      let (name, value) = try reader.read(input)
      values[name] = value
    }
    let borrowed = reader.borrowed
    guard !model.usesFeatures else {
      return PredictedValues(try predictor.features(values), of: model, borrowed)
    }
    let prediction = try predictor.predict(values)
    state?.set(prediction.states(of: model).mapValues(borrowed.owned))
    return PredictedValues(prediction.features(model), of: model, borrowed)
  }
}

extension Predictor.Options {
  /// - Throws: `.usage` if a field has no meaning; whatever a plug-in that cannot be loaded throws.
  init(_ given: UnsafePointer<assay_options>?) throws {
    self.init()
    guard let given else { return }
    try require(
      given.pointee.size == MemoryLayout<assay_options>.size, .usage,
      "size is \(given.pointee.size), not sizeof(assay_options)", field: "options")
    let options = given.pointee
    try require(
      options.threads >= 0, .usage, "threads is \(options.threads)", field: "options")
    engine.threads = options.threads == 0 ? nil : Int(options.threads)
    engine.maxMemory = options.max_memory == 0 ? nil : Int(clamping: options.max_memory)
    switch Int(options.layout) {
    case ASSAY_LAYOUT_SOURCE: layout = .source
    case ASSAY_LAYOUT_COREML: layout = .coreml
    default:
      throw ModelError(.usage, "there is no layout \(options.layout)", field: "options")
    }
    for index in 0..<max(0, options.plugin_count) {
      let path = try argument(options.plugins, "options.plugins")[index]
      try PluginLibrary(path: String(cString: argument(path, "options.plugins")))
        .register(in: &engine.customLayers)
    }
  }
}
