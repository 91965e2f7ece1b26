import CoreMLModel

/// The Swift file that Xcode generates for a model: classes for its inputs, its outputs, and the
/// model, with the same public interface.
package struct ModelClass {
  private let name: String
  private let inputs: [Property]
  private let outputs: [Property]
  private let labels: [String]
  private let version: Int

  /// - Parameters:
  ///   - name: the file's name without its extension. The class has the same name, with `_` for
  ///     characters that Swift identifiers cannot contain.
  ///   - labels: a classifier's labels, listed best in the output's comment.
  package init(of model: Model, name: String, labels: [String] = []) {
    let description = model.description ?? ModelDescription()
    var names = SwiftNames(taken: [])
    self.name = names.unique(Self.identifier(name), else: "Model")
    (resource, version) = (name, model.specificationVersion)
    self.labels = labels
    func properties(_ features: [FeatureDescription]) -> [Property] {
      var names = SwiftNames(taken: [])
      return features.map { Property($0, names.unique(Self.identifier($0.name), else: "feature")) }
    }
    inputs = properties(description.input)
    outputs = properties(description.output)
  }

  private let resource: String

  /// As in Xcode, a name that starts with a digit gets `_` in front.
  private static func identifier(_ name: String) -> String {
    name.first.map { $0.isNumber ? "_" + name : name } ?? name
  }

  private var input: String { name + "Input" }
  private var output: String { name + "Output" }

  package var text: String {
    let lines =
      [
        "//", "// \(SwiftNames.comment(resource)).swift, written by assay", "//", "",
        "import CoreML", "", "",
      ] + inputClass + ["", ""] + outputClass + ["", ""] + modelClass
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: - Systems

  /// The systems that support each specification version.
  private static let systems: [(macOS: String, iOS: String, tvOS: String, watchOS: String)] = [
    ("10.13", "11.0", "11.0", "4.0"), ("10.13.2", "11.2", "11.2", "4.2"),
    ("10.14", "12.0", "12.0", "5.0"), ("10.15", "13.0", "13.0", "6.0"),
    ("11.0", "14.0", "14.0", "7.0"), ("12.0", "15.0", "15.0", "8.0"),
    ("13.0", "16.0", "16.0", "9.0"), ("14.0", "17.0", "17.0", "10.0"),
    ("15.0", "18.0", "18.0", "11.0"), ("26.0", "26.0", "26.0", "26.0"),
  ]

  private static func available(_ version: Int) -> String {
    let system = systems[min(max(version, 1), systems.count) - 1]
    let vision = version > 9 ? "26.0" : version > 8 ? "2.0" : "1.0"
    return "@available(macOS \(system.macOS), iOS \(system.iOS), tvOS \(system.tvOS), "
      + "watchOS \(system.watchOS), visionOS \(vision), *)"
  }

  /// A member, with an availability attribute if it requires more than the class does.
  private func member(_ since: Int, _ heading: String, _ body: String...) -> [String] {
    var lines = since > version ? [Self.available(since)] : []
    // Swift has no Float16 on Macs with Intel processors.
    if heading.contains("<Float16>") {
      lines += [
        "#if (os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64)",
        "@available(macOS, unavailable)", "@available(macCatalyst, unavailable)", "#endif",
      ]
    }
    return (lines + ["\(heading) {"] + body.map { "    " + $0 } + ["}"]).map { "    " + $0 } + [""]
  }

  private func member(_ heading: String, _ body: String...) -> [String] {
    ["    \(heading) {"] + body.map { "        " + $0 } + ["    }", ""]
  }

  // MARK: - Classes

  private func heading(_ comment: String, _ name: String, _ inherits: String = "") -> [String] {
    ["/// \(comment)", Self.available(version), "class \(name)\(inherits) {", ""]
  }

  private func list(_ properties: [Property], _ text: (Property) -> String) -> String {
    properties.map(text).joined(separator: ", ")
  }

  private var parameters: String { list(inputs, \.parameter) }

  private var inputClass: [String] {
    var lines = heading("Model Prediction Input Type", input, " : MLFeatureProvider")
    for input in inputs {
      lines += [
        "    /// \(input.comment)",
        "    var \(input.parameter)", "",
      ]
    }
    lines += member(
      "var featureNames: Set<String>", "[\(list(inputs) { SwiftNames.literal($0.feature) })]")
    var body = inputs.flatMap { input in
      let value =
        input.isOptional ? "\(input.name).map { \(input.value("$0")) }" : input.value(input.name)
      return [
        "if featureName == \(SwiftNames.literal(input.feature)) {", "    return \(value)", "}",
      ]
    }
    body.append("return nil")
    lines += ["    func featureValue(for featureName: String) -> MLFeatureValue? {"]
    lines += body.map { "        " + $0 } + ["    }", ""]
    lines += ["    init(\(parameters)) {"]
    lines += inputs.map { "        self.\($0.name) = \($0.name)" } + ["    }", ""]
    lines += conversions
    return lines + ["}"]
  }

  /// Initializers that accept an image or a shaped array for each input that is one.
  private var conversions: [String] {
    var lines: [String] = []
    func initializer(
      _ since: Int, _ parameter: (Property) -> String?, _ value: (Property) -> String?,
      _ end: String
    ) {
      lines += member(
        since, "convenience init(\(list(inputs) { parameter($0) ?? $0.parameter }))\(end)",
        "self.init(\(list(inputs) { "\($0.name): \(value($0) ?? $0.name)" }))")
    }
    if inputs.contains(where: { $0.image != nil }) {
      for (label, type, argument) in [("With", "CGImage", "cgImage"), ("At", "URL", "imageAt")] {
        initializer(
          4, { $0.image == nil ? nil : "\($0.name)\(label) \($0.name): \(type)" },
          { $0.imageValue(argument).map { "try \($0)" } }, " throws")
      }
    }
    for input in inputs {
      for (type, argument) in [("CGImage", "cgImage"), ("URL", "imageAt")] {
        guard let value = input.imageValue(argument) else { continue }
        let title = input.name.prefix(1).uppercased() + input.name.dropFirst()
        lines += member(
          4, "func set\(title)(with \(input.name): \(type)) throws",
          "self.\(input.name) = try \(value)")
      }
    }
    if inputs.contains(where: { $0.shaped != nil }) {
      initializer(6, \.shaped, { $0.shaped == nil ? nil : "MLMultiArray(\($0.name))" }, "")
    }
    return lines
  }

  private var outputClass: [String] {
    var lines = heading("Model Prediction Output Type", output, " : MLFeatureProvider")
    lines += [
      "    /// Source provided by Core ML", "    private let provider : MLFeatureProvider", "",
    ]
    for output in outputs {
      lines += ["    /// \(output.comment)"]
      if output.isProbabilities, !labels.isEmpty {
        let shown =
          labels.prefix(20).map { SwiftNames.comment($0) } + (labels.count > 20 ? ["..."] : [])
        lines.append("    /// Labels: " + shown.joined(separator: ", "))
      }
      lines += member(
        "var \(output.name): \(output.type)",
        "provider.featureValue(for: \(SwiftNames.literal(output.feature)))!.\(output.reading)")
      if let scalar = output.scalar {
        lines += ["    /// \(output.comment)"]
        lines += member(
          6, "var \(output.name)ShapedArray: MLShapedArray<\(scalar)>",
          "MLShapedArray<\(scalar)>(\(output.name))")
      }
    }
    lines += member("var featureNames: Set<String>", "provider.featureNames")
    lines += member(
      "func featureValue(for featureName: String) -> MLFeatureValue?",
      "provider.featureValue(for: featureName)")
    let values = list(outputs) { "\(SwiftNames.literal($0.feature)) : \($0.value($0.name))" }
    lines += member(
      "init(\(list(outputs) { "\($0.name): \($0.type)" }))",
      "self.provider = try! MLDictionaryFeatureProvider(dictionary: [\(values)])")
    lines += member("init(features: MLFeatureProvider)", "self.provider = features")
    return lines + ["}"]
  }

  private var modelClass: [String] {
    let here = "type(of:self).urlOfModelInThisBundle"
    let standard = "configuration: MLModelConfiguration = MLModelConfiguration()"
    let handler = "completionHandler handler: @escaping (Swift.Result<\(name), Error>) -> Void"
    let options = "options: MLPredictionOptions = MLPredictionOptions()"
    var lines = heading("Class for model loading and prediction", name)
    lines += ["    let model: MLModel", ""]
    lines += ["    /// URL of model assuming it was installed in the same bundle as this class"]
    lines += member(
      "class var urlOfModelInThisBundle : URL",
      "let bundle = Bundle(for: self)",
      "return bundle.url(forResource: \(SwiftNames.literal(resource)), withExtension:\"mlmodelc\")!"
    )
    lines += member("init(model: MLModel)", "self.model = model")
    if version < 5 {
      lines += [
        "    @available(*, deprecated, message: \"Use init(configuration:) instead and handle errors.\")"
      ]
      lines += member("convenience init()", "try! self.init(contentsOf: \(here))")
    }
    lines += member(
      3,
      "convenience init(\(version < 5 ? "configuration: MLModelConfiguration" : standard)) throws",
      "try self.init(contentsOf: \(here), configuration: configuration)")
    lines += member(
      "convenience init(contentsOf modelURL: URL) throws",
      "try self.init(model: MLModel(contentsOf: modelURL))")
    lines += member(
      3, "convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws",
      "try self.init(model: MLModel(contentsOf: modelURL, configuration: configuration))")
    lines += member(
      5, "class func load(\(standard), \(handler))",
      "load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration, completionHandler: handler)"
    )
    lines += member(
      6, "class func load(\(standard)) async throws -> \(name)",
      "try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)")
    lines += member(
      5, "class func load(contentsOf modelURL: URL, \(standard), \(handler))",
      "MLModel.load(contentsOf: modelURL, configuration: configuration) { result in",
      "    handler(result.map { \(name)(model: $0) })", "}")
    lines += member(
      6, "class func load(contentsOf modelURL: URL, \(standard)) async throws -> \(name)",
      "let model = try await MLModel.load(contentsOf: modelURL, configuration: configuration)",
      "return \(name)(model: model)")
    lines += member(
      "func prediction(input: \(input)) throws -> \(output)",
      "try prediction(input: input, options: MLPredictionOptions())")
    lines += member(
      "func prediction(input: \(input), options: MLPredictionOptions) throws -> \(output)",
      "\(output)(features: try model.prediction(from: input, options: options))")
    lines += member(
      8, "func prediction(input: \(input), \(options)) async throws -> \(output)",
      "\(output)(features: try await model.prediction(from: input, options: options))")
    let call = "try prediction(input: \(input)(\(list(inputs) { "\($0.name): \($0.name)" })))"
    lines += member("func prediction(\(list(inputs, \.argument))) throws -> \(output)", call)
    if inputs.contains(where: { $0.shaped != nil }) {
      let shaped = list(inputs) { $0.shaped ?? $0.argument }
      lines += member(6, "func prediction(\(shaped)) throws -> \(output)", call)
    }
    lines += member(
      3, "func predictions(inputs: [\(input)], \(options)) throws -> [\(output)]",
      "let results = try model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)",
      "return (0..<results.count).map { \(output)(features: results.features(at: $0)) }")
    return lines.dropLast() + ["}"]
  }
}

/// A feature as a property.
private struct Property {
  let feature: String
  let name: String
  let isOptional: Bool
  let type: String
  /// The type of an array's elements.
  var scalar: String?
  var image: ImageFeatureType?
  var isProbabilities = false
  /// The description that Xcode generates.
  let comment: String
  /// The property of `MLFeatureValue` that holds the value.
  let reading: String
  private let making: (String) -> String

  init(_ feature: FeatureDescription, _ name: String) {
    (self.feature, self.name) = (feature.name, name)
    isOptional = feature.type?.isOptional == true
    let title = feature.shortDescription.isEmpty ? feature.name : feature.shortDescription
    var kind: String
    switch feature.type?.kind {
    case .image(let image):
      self.image = image
      (type, reading) = ("CVPixelBuffer", "imageBufferValue!")
      making = { "MLFeatureValue(pixelBuffer: \($0))" }
      let isGray = image.colorSpace.channelCount == 1
      kind =
        "\(isGray ? "grayscale (kCVPixelFormatType_OneComponent8)" : "color (kCVPixelFormatType_32BGRA)") "
        + "image buffer, \(image.width) pixels wide by \(image.height) pixels high"
    case .int64:
      (type, reading, kind) = ("Int64", "int64Value", "integer value")
      making = { "MLFeatureValue(int64: \($0))" }
    case .double:
      (type, reading, kind) = ("Double", "doubleValue", "double value")
      making = { "MLFeatureValue(double: \($0))" }
    case .string:
      (type, reading, kind) = ("String", "stringValue", "string value")
      making = { "MLFeatureValue(string: \($0))" }
    case .dictionary(let key):
      let word = key == .int64 ? "Int64" : "String"
      (type, reading) = ("[\(word) : Double]", "dictionaryValue as! [\(word) : Double]")
      kind = "dictionary of \(key == .int64 ? "64-bit integers" : "strings") to doubles"
      isProbabilities = true
      making = { "try! MLFeatureValue(dictionary: \($0) as [AnyHashable : NSNumber])" }
    default:
      (type, reading) = ("MLMultiArray", "multiArrayValue!")
      making = { "MLFeatureValue(multiArray: \($0))" }
      var shape: [Int] = []
      if case .multiArray(let array)? = feature.type?.kind {
        if array.flexibility == nil { shape = array.shape }
        scalar = Self.scalars[array.dataType]?.name
        kind = Self.scalars[array.dataType]?.words ?? "numbers"
      } else {
        kind = "numbers"
      }
      switch shape.count {
      case 0: kind = "multidimensional array of \(kind)"
      case 1: kind = "\(shape[0]) element vector of \(kind)"
      case 2: kind = "\(shape[0]) by \(shape[1]) matrix of \(kind)"
      default:
        kind =
          shape.map(String.init).joined(separator: " x ")
          + " \(shape.count)-dimensional array of \(kind)"
      }
    }
    comment = SwiftNames.comment("\(title) as \(isOptional ? "optional " : "")\(kind)")
  }

  private static let scalars: [ArrayFeatureType.DataType: (name: String, words: String)] = [
    .double: ("Double", "doubles"), .float32: ("Float", "floats"),
    .float16: ("Float16", "16-bit floats"), .int32: ("Int32", "32-bit integers"),
  ]

  /// The parameter of `prediction`, which has no defaults.
  var argument: String { "\(name): \(type)\(isOptional ? "?" : "")" }
  var parameter: String { argument + (isOptional ? " = nil" : "") }
  /// The parameter with the type of a shaped array; nil for other features.
  var shaped: String? { isOptional ? nil : scalar.map { "\(name): MLShapedArray<\($0)>" } }

  /// An expression that wraps `expression` in an `MLFeatureValue`.
  func value(_ expression: String) -> String { making(expression) }

  /// An expression that reads an image buffer from an image or a file; nil for other features.
  func imageValue(_ argument: String) -> String? {
    image.map {
      let format =
        $0.colorSpace.channelCount == 1
        ? "kCVPixelFormatType_OneComponent8" : "kCVPixelFormatType_32ARGB"
      return
        "MLFeatureValue(\(argument): \(name), pixelsWide: \($0.width), pixelsHigh: \($0.height), "
        + "pixelFormatType: \(format), options: nil).imageBufferValue!"
    }
  }
}
