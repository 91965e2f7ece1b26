import ByteFormats
import CaffeImport
import CoreMLModel
import CustomLayers
import DarknetImport
import ImportSupport
import KerasImport
import TensorCore

/// A file with a network, detected from its content.
public enum ModelSource: Sendable {
  /// A Core ML document, valid or not.
  case coreML(Model)
  /// A network of Keras, with or without its weights.
  case keras(KerasSource)
  /// A network of Caffe, with or without its weights.
  case caffe(CaffeSource)
  /// A network of Darknet, with or without its weights.
  case darknet(DarknetSource)

  package static let networks: [any SourceNetwork.Type] = [
    CaffeSource.self, DarknetSource.self, KerasSource.self,
  ]

  /// The source network; nil of a Core ML model.
  package var network: (any SourceNetwork)? {
    switch self {
    case .coreML: nil
    case .keras(let network): network
    case .caffe(let network): network
    case .darknet(let network): network
    }
  }

  /// Reads the file at `path`; `weights` is the weights file of an architecture. Caffe's two files
  /// may be in either order. The architecture may be a function that builds the network, such as
  /// `model.py:build_model(width=32)`, in a Python file that imports `sources`.
  public init(contentsOf path: String, weights: String? = nil, sources: [String] = []) throws {
    if KerasSource.isModelFunction(path) {
      self = .keras(try KerasSource.load(path, weights: weights, sources: sources))
      return
    }
    let (bytes, format, package) = try FileFormat.readPackage(path)
    let file = SourceFile(path: path, format: format, bytes: bytes)
    if let type = try Self.networks.first(where: { try $0.detects(file, weights: weights) }) {
      self = try type.read(path, weights: weights)
      return
    }
    guard [.coreML, .unknown].contains(format) else {
      throw format.error(expected: "a Keras, Caffe, Darknet or Core ML network").inFile(path)
    }
    self = .coreML(
      try inFile(path == "-" ? "standard input" : path) {
        var model = try Model(bytes: bytes, package: package)
        try model.connectVGSLNetwork()
        try require(
          weights == nil, .mismatch,
          "a Core ML model contains its weights and takes no second file")
        return model
      })
  }

  package func recordingFramework() throws -> RecordingFramework {
    try network?.recordingFramework() ?? .coreML
  }

  /// The file with the weights; Caffe's two files may come in either order.
  package func weightsFile(_ path: String, _ weights: String?) -> String {
    if let network, network.path != path { return path }
    return weights ?? path
  }

  /// Converts a source network. Classes in `customLayers` compute the output shapes of their
  /// layers.
  public func convert(
    _ options: ConversionOptions, customLayers: CustomLayerRegistry = CustomLayerRegistry()
  ) throws -> ConversionResult {
    var options = options
    options.customLayerShapes = { layer, shapes in
      guard customLayers.factory(of: layer) != nil else { return nil }
      return try customLayers.outputShapes(of: layer, shapes)
    }
    if let network { return try network.convert(options) }
    throw ModelError(
      .unsupported, "is already a Core ML model",
      hint: try document(missingWeights: nil)?.model.firstTypeThatDoesNotRun
        .map { Model.remedy(forType: $0) } ?? "use it with `assay run` or `assay inspect`")
  }

  /// The Core ML model, with removed weights replaced by `missingWeights`. Nil for a source
  /// network.
  package func document(
    missingWeights: MissingWeights?
  ) throws -> (model: Model, lacksWeights: Bool)? {
    guard case .coreML(var model) = self else { return nil }
    var filled = 0
    if case .random(let random)? = missingWeights, var network = model.neuralNetwork {
      filled = try network.fillMissingWeights(random)
      if filled > 0 { model.neuralNetwork = network }
    }
    return (model, filled > 0)
  }

  /// Whether a file of weights belongs to a source network; true of a document.
  package var hasWeights: Bool { network?.hasWeights ?? true }

  /// The document for inspection: a source network is converted with every unknown layer as a
  /// custom layer, and an architecture without weights gets zeros.
  public func inspectedModel(
    customLayers: CustomLayerRegistry = CustomLayerRegistry()
  ) throws -> Model {
    var options = ConversionOptions()
    options.customLayers = .allow
    options.missingWeights = .zeros
    return try validModel(options, customLayers)
  }

  /// The document with all its weights: a source network is converted with every unknown layer as a
  /// custom layer.
  ///
  /// - Parameters:
  ///   - customLayers: what a plug-in or the program has registered.
  ///   - function: the function of an ML Program; nil for its default.
  ///   - onWarning: receives each line that the command would print as a warning.
  /// - Throws: the errors of `convert`, for example if the weights of an architecture are missing.
  public func weightedModel(
    customLayers: CustomLayerRegistry = CustomLayerRegistry(), function: String? = nil,
    onWarning: (String) -> Void = { _ in }
  ) throws -> Model {
    var options = ConversionOptions()
    options.customLayers = .allow
    return try validModel(options, customLayers, function: function, onWarning)
  }

  private func validModel(
    _ options: ConversionOptions, _ customLayers: CustomLayerRegistry, function: String? = nil,
    _ onWarning: (String) -> Void = { _ in }
  ) throws -> Model {
    guard case .coreML(let model) = self else {
      try require(
        function == nil, .mismatch, "only ML Programs have functions, and this is a source network")
      let result = try convert(options, customLayers: customLayers)
      result.notes.forEach(onWarning)
      return result.model
    }
    let selected = try model.selectingFunction(function)
    for doubt in try selected.doubts() { onWarning(doubt.description) }
    return selected
  }
}
