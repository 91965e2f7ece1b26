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
  /// A Core ML document, whatever is wrong with it.
  case coreML(Model)
  /// A network of Keras, with or without its weights.
  case keras(KerasSource)
  /// A network of Caffe, with or without its weights.
  case caffe(CaffeSource)
  /// A network of Darknet, with or without its weights.
  case darknet(DarknetSource)

  /// Reads the file at `path`; `weights` is the weights file of an architecture. Caffe's two files
  /// may be in either order. The architecture may be a function of a Python file that builds the
  /// network, `model.py:build_model(width=32)`, whose file imports `sources`.
  public init(contentsOf path: String, weights: String? = nil, sources: [String] = []) throws {
    if KerasSource.isModelFunction(path) {
      self = .keras(try KerasSource.load(path, weights: weights, sources: sources))
      return
    }
    let (bytes, format, package) = try FileFormat.readPackage(path)
    switch format {
    case .darknet: self = .darknet(try DarknetSource.load(path, weights: weights))
    case .prototxt where !Self.looksLikePrototxt(bytes, path):
      throw FileFormat.text.error(expected: "a Keras, Caffe, Darknet or Core ML network")
        .inFile(path)
    case .prototxt, .caffeBinary: self = .caffe(try CaffeSource.load(path, weights: weights))
    case .hdf5 where try weights.map(Self.isCaffe) ?? false:
      self = .caffe(try CaffeSource.load(path, weights: weights))
    case .hdf5: self = .keras(try KerasSource.load(path, weights: weights))
    case .zip, .json: self = .keras(try KerasSource.load(path, weights: weights))
    case .unknown where [".keras", ".h5", ".hdf5"].contains(where: path.hasSuffix):
      throw ModelError(
        .malformed, "is neither a Keras archive nor an HDF5 file", file: path,
        hint: "the file is damaged, incomplete, or has another format")
    case .coreML, .unknown:
      self = .coreML(
        try inFile(path == "-" ? "standard input" : path) {
          var model = try Model(bytes: bytes, package: package)
          try model.connectVGSLNetwork()
          try require(
            weights == nil, .mismatch,
            "a Core ML model contains its weights and takes no second file")
          return model
        })
    case .darknetWeights, .png, .jpeg, .numPy, .text, .empty, .foreign:
      throw format.error(expected: "a Keras, Caffe, Darknet or Core ML network").inFile(path)
    }
  }

  /// Whether a file is a network of Caffe.
  ///
  /// - Throws: if it is another text.
  private static func isCaffe(_ path: String) throws -> Bool {
    let (bytes, format) = try FileFormat.read(path)
    if format == .caffeBinary || format == .prototxt && looksLikePrototxt(bytes, path) {
      return true
    }
    guard format != .prototxt, format != .text else {
      throw FileFormat.text.error(expected: "weights or a network").inFile(path)
    }
    return false
  }

  /// Whether a text starts with a field, as protobuf's do, or its name says so.
  private static func looksLikePrototxt(_ bytes: Bytes, _ path: String) -> Bool {
    if path.lowercased().hasSuffix(".prototxt") { return true }
    let text = bytes.withUnsafeBytes { String(decoding: $0.prefix(1 << 16), as: UTF8.self) }
    let words = text.split(whereSeparator: \.isNewline)
      .map { $0.drop { $0.isWhitespace || $0 == "\u{FEFF}" } }
      .filter { !$0.hasPrefix("#") }.joined(separator: "\n")
    let rest = words.drop { $0.isLetter || $0.isNumber || $0 == "_" }.drop(while: \.isWhitespace)
    return rest.isEmpty || [":", "{", "<", "#"].contains(rest.first)
  }

  /// Of a source network's files, which Caffe takes in either order, the one that holds its weights.
  package func weightsFile(_ path: String, _ weights: String?) -> String {
    if case .caffe(let source) = self, source.path != path { return path }
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
    switch self {
    case .coreML(let model):
      throw ModelError(
        .unsupported, "is already a Core ML model",
        hint: model.firstTypeThatDoesNotRun.map { Model.remedy(forType: $0) }
          ?? "use it with `assay run` or `assay inspect`")
    case .keras(let source):
      return try KerasImporter.convert(source, options: options)
    case .caffe(let source):
      return try CaffeImporter.convert(source, options: options)
    case .darknet(let source):
      return try DarknetImporter.convert(source, options: options)
    }
  }

  /// The Core ML model with `missingWeights` for all that has none: one whose weights have been taken
  /// out. Nil of a source network.
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
  package var hasWeights: Bool {
    switch self {
    case .coreML: true
    case .keras(let source): source.hasWeights
    case .caffe(let source): source.hasWeights
    case .darknet(let source): source.hasWeights
    }
  }

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
  ///   - onWarning: gets what the command would warn of, a line each.
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
