import CoreMLModel
import ImportSupport
import TensorCore

/// One run of the conversion, which converts the sections in order.
package struct DarknetConversion: SourceConversion {
  /// An interpretation of an ambiguous weights file.
  struct Reading {
    var takesOtherHeader = false
    var storesBatchnormBiases = true
  }

  private let source: DarknetSource
  /// The options with a name for each feature.
  private(set) var options: ConversionOptions
  private let input: NetworkOptions
  private var outputs: [DarknetTensor] = []
  /// Whether a plan continued after a layer that cannot be converted, assuming it keeps the size.
  private var hasRefusals = false
  private(set) var imported = ImportedNetwork(source: "Darknet")
  var network: DarknetWriter
  package var plan: [PlanEntry] { network.plan }

  /// The default name of the input.
  static let inputName = "data"

  package init(_ source: DarknetSource, _ options: ConversionOptions) throws {
    try self.init(source, options, Reading())
  }

  init(_ source: DarknetSource, _ options: ConversionOptions, _ reading: Reading) throws {
    self.source = source
    var notes: [String] = []
    self.options = options.naming(inputs: [Self.inputName], outputs: [], notes: &notes)
    input = try NetworkOptions(source.configuration)
    network = DarknetWriter(
      weights: WeightReader(try Self.weights(source, options, reading)),
      rules: options.customLayers, storesBatchnormBiases: reading.storesBatchnormBiases,
      trees: source.trees, onVisit: options.onVisit)
    network.writer.notes = notes + source.configuration.notes
  }

  private static func weights(
    _ source: DarknetSource, _ options: ConversionOptions, _ reading: Reading
  ) throws -> WeightReader.Source {
    if !options.isPlan, let bytes = source.weightBytes, let weights = source.weights {
      return .file(try WeightsFile(bytes, path: weights.path, takesOther: reading.takesOtherHeader))
    }
    return options.missingWeights.map { .missing($0) } ?? .none
  }

  /// Other interpretations of the weights, most likely first.
  var otherReadings: [Reading] {
    guard let weights = source.weights else { return [] }
    let isAmbiguous = weights.isAmbiguous
    let hasBatchnorm = source.configuration.sections.contains {
      DarknetLayer.batchNorm.source.names.contains($0.kind)
    }
    var readings: [Reading] = []
    if hasBatchnorm { readings.append(Reading(storesBatchnormBiases: false)) }
    if isAmbiguous { readings.append(Reading(takesOtherHeader: true)) }
    if isAmbiguous && hasBatchnorm {
      readings.append(Reading(takesOtherHeader: true, storesBatchnormBiases: false))
    }
    return readings
  }

  @discardableResult
  package mutating func run() throws -> ImportedNetwork {
    let layers = try makeLayers()
    var previous = try makeInput()
    for index in layers.indices {
      previous = try convert(layers[index], index, previous)
      outputs.append(previous)
    }
    try network.weights.finish()
    try addOutputs()
    imported.layers = network.layers
    noteSourceBlobs()
    for tensor in outputs {
      imported.blobLayouts[tensor.blob] = imported.blobLayouts[tensor.blob] ?? tensor.layout
    }
    try imported.rename(inputs: [], outputs: outputNames)
    options = options.naming(
      inputs: [Self.inputName], outputs: outputNames, notes: &network.writer.notes)
    addStates()
    if imported.needsExactMapping {
      let isImage = options.imageInputs.contains(options.inputNames[0])
      imported.makeExact(images: isImage ? [Self.inputName] : [])
    }
    return imported
  }

  // MARK: Layers

  private mutating func convert(
    _ layer: Handler, _ index: Int, _ previous: DarknetTensor
  ) throws -> DarknetTensor {
    let section = source.configuration.sections[index + 1]
    let call = LayerCall(
      name: name(index), section: section, index: index, previous: previous, outputs: outputs)
    if !layer.vanishes { network.visit(call.name, section.name) }
    do {
      let output = try layer.convert(call, &network)
      network.finish(call.name, section.name)
      return output
    } catch let error as ModelError {
      let problem = error.inLayer(call.name, class: section.name)
      guard options.isPlan else { throw problem }
      var refusal = LayerRefusal(problem)
      refusal.configuration = CustomSection.configuration(of: section)
      if !layer.isRefused { refusal.isOpen = hasRefusals }
      hasRefusals = true
      network.refuse(call.name, section.name, refusal)
      return previous
    }
  }

  private struct Handler {
    var vanishes = false
    var isRefused = false
    let convert: DarknetLayer.Conversion
  }

  /// Reads every section's options, so that all errors are reported at once.
  private mutating func makeLayers() throws -> [Handler] {
    noteUnknown(input.section, NetworkOptions.options + NetworkOptions.trainingOptions)
    var handlers: [Handler] = []
    var problems: [ModelError] = []
    for (index, section) in source.configuration.sections.dropFirst().enumerated() {
      let name = "\(section.name)_\(index)"
      do {
        handlers.append(try handler(section, name))
      } catch let error as ModelError {
        problems.append(error.inLayer(name, class: section.name))
        handlers.append(Handler(isRefused: true) { _, _ in throw error })
      }
    }
    if !options.isPlan, let error = UnsupportedLayers.error(problems) { throw error }
    guard !handlers.isEmpty else { throw ModelError(.malformed, "it has no layers") }
    return handlers
  }

  private mutating func handler(_ section: ConfigurationSection, _ name: String) throws -> Handler {
    let subject = CustomLayerSubject(layer: name, layerClass: section.name)
    if let rule = options.customLayers.rule(for: subject) {
      return custom(section, rule)
    }
    if let type = DarknetLayerRegistry.type(named: section.kind) {
      noteUnknown(section, type.options + type.trainingOptions + CommonOptions.training)
      do {
        try CommonOptions.check(section)
        return Handler(vanishes: type.vanishes, convert: try type.conversion(section))
      } catch let error as ModelError {
        // A layer that cannot be converted may become a custom layer.
        guard options.customLayers.allowsAll, error.code == .unsupported else { throw error }
      }
    }
    guard options.customLayers.allowsAll else {
      let reason = LayerCatalog.reason(section.kind)
      throw ModelError(
        .unsupported,
        "line \(section.line): "
          + (reason ?? "this section is not supported"
            + UnsupportedLayers.question(
              section.kind, LayerCatalog.entries.flatMap { $0.layer.names })),
        hint: "make it a custom layer with a rule: \(setting: "customLayers") FILE.json with "
          + subject.suggestedRule)
    }
    return custom(section, nil)
  }

  private func custom(_ section: ConfigurationSection, _ rule: CustomLayerRule?) -> Handler {
    let custom = CustomSection(section: section, rule: rule, shapes: options.customLayerShapes)
    return Handler { try custom.convert($0, into: &$1) }
  }

  private mutating func noteUnknown(_ section: ConfigurationSection, _ known: [String]) {
    network.writer.notes += CommonOptions.notes(
      section, known: Set((known + CommonOptions.refused).map { $0.lowercased() }))
  }

  /// Records the blob with each section's result; a blob that only passes through a section still
  /// belongs to the section before.
  private mutating func noteSourceBlobs() {
    var taken: Set<String> = [imported.inputs[0].name]
    for (index, tensor) in outputs.enumerated() where taken.insert(tensor.blob).inserted {
      imported.sourceBlobs[name(index)] = tensor.blob
    }
    for (index, feature) in zip(outputIndices, imported.outputs)
    where !imported.sourceBlobs.values.contains(feature.name) {
      imported.sourceBlobs[name(index)] = feature.name
    }
  }

  // MARK: Interface

  private mutating func makeInput() throws -> DarknetTensor {
    let blob = network.reserve(Self.inputName)
    let name = options.inputNames[0]
    let sizes = try inputSizes(name)
    var tensor: DarknetTensor
    do {
      tensor =
        input.image == nil
        ? try .vector(blob, input.inputs) : try DarknetTensor(blob, sizes[0], sizes[1], sizes[2])
    } catch var error as ModelError {
      error.message = "line \(input.section.line): [\(input.section.name)]: \(error.message)"
      throw error
    }
    tensor.isImage = input.image != nil
    var feature = ImportedFeature(
      name: blob, shape: tensor.isImage ? tensor.shape : [tensor.count],
      layout: tensor.isImage ? "NCHW" : "NC")
    feature.sourceShape = [nil] + feature.shape
    imported.inputs = [feature]
    return tensor
  }

  /// The input sizes of the section, with rows and columns from `--input-shape` if given.
  private func inputSizes(_ name: String) throws -> [Int] {
    guard let own = input.image else { return [input.inputs] }
    guard let asked = options.inputShapes[name] else { return own }
    try require(
      asked.count == 4 && (asked[1] ?? own[0]) == own[0], .mismatch,
      "\(setting: "inputShape") of '\(name)' needs batch, \(own[0]) channels, height and width")
    return [own[0], asked[2] ?? own[1], asked[3] ?? own[2]]
  }

  /// The detection heads and the last layer, whose outputs Darknet returns.
  private var outputIndices: [Int] {
    let heads = network.heads.map(\.index)
    var last = outputs.count - 1
    // A loss or dropout at the end passes its input through.
    while last > 0, isPassedOver(last) { last -= 1 }
    return heads.contains(last) ? heads : heads + [last]
  }

  private func isPassedOver(_ index: Int) -> Bool {
    let kind = source.configuration.sections[index + 1].kind
    return DarknetLayerRegistry.type(named: kind)?.vanishes == true
  }

  private var outputNames: [String] { outputIndices.map(name) }

  private func name(_ index: Int) -> String {
    "\(source.configuration.sections[index + 1].name)_\(index)"
  }

  private mutating func addOutputs() throws {
    var taken: Set<String> = [imported.inputs[0].name]
    for index in outputIndices {
      let tensor = outputs[index]
      var blob = tensor.blob
      if !taken.insert(blob).inserted {
        blob = network.add(name(index) + "__copy__", Activation(.linear(alpha: 1, beta: 0)), [blob])
        taken.insert(blob)
      }
      imported.outputs.append(Self.feature(blob, tensor))
    }
  }

  /// Adds the states of recurrent sections as inputs and outputs, after all others.
  private mutating func addStates() {
    for state in network.states {
      imported.sourceBlobs[state.output] = state.output
      imported.inputs.append(Self.feature(state.input, state.tensor))
      imported.outputs.append(Self.feature(state.output, state.tensor))
    }
  }

  private static func feature(_ name: String, _ tensor: DarknetTensor) -> ImportedFeature {
    var feature = ImportedFeature(
      name: name, shape: tensor.layout == "NC" ? [tensor.channels] : tensor.shape,
      layout: tensor.layout)
    feature.sourceShape = [nil] + feature.shape
    return feature
  }

  /// The metadata for the detection heads, under the names of the outputs.
  var metadata: [String: String] {
    var metadata: [String: String] = [:]
    let names = outputNames
    for head in network.heads {
      guard let position = names.firstIndex(of: head.layer) else { continue }
      metadata.merge(head.metadata(output: options.outputNames[position])) { first, _ in first }
    }
    if !network.heads.isEmpty, let value = input.section.string("letter_box") {
      metadata[DetectionHead.prefix + "letter_box"] = value
    }
    return metadata
  }
}
