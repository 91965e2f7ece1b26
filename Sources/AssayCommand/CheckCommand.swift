struct CheckCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Lists what is wrong or suspicious in a model.",
    discussion: """
      EXAMPLES:
        assay check model.mlmodel
        assay check model.mlmodel --json
        assay check deploy.prototxt net.caffemodel

      An error is something that Core ML rejects; a warning is legal, but probably a mistake. Exit \
      codes: 0 no findings; 1 warnings only; 2 errors.

      \(ModelHelp.discussion)
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(help: ModelHelp.weights, completion: .file()) var weights: String?

  @OptionGroup(title: "Names and shapes", visibility: .advanced) var sourceNames: NameArguments
  @OptionGroup(title: "Images", visibility: .advanced) var sourceImages: ImageArguments
  @OptionGroup(title: "Classes", visibility: .advanced) var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers", visibility: .advanced) var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata", visibility: .advanced) var sourceMetadata: MetadataArguments
  @OptionGroup(visibility: .advanced) var weightPrecision: WeightPrecisionArguments
  @OptionGroup var plugins: PluginArguments

  @Flag(help: "Print JSON.") var json = false

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply(verbose: true)
    let check = try self.check()
    if json {
      Console.print(Self.json(check).text)
    } else {
      if !global.quiet { Console.print("\(Console.escaped(model)): \(Self.summary(check))") }
      for error in check.errors { Console.write(Self.text(error, "error")) }
      for warning in check.warnings { Console.write(Self.text(warning, "warning")) }
    }
    if !check.errors.isEmpty { throw ExitCode(2) }
    if !check.warnings.isEmpty { throw ExitCode(1) }
  }

  private func check() throws -> ModelCheck {
    var reader = ModelReader(source, try plugins.customLayers(), global)
    reader.precision = weightPrecision.precision
    if let onnx = try ONNXModel.written(at: model) { return ModelCheck(onnx) }
    let files = ModelFiles(model, weights: weights)
    reader.takesInvalid = true
    reader.warnsOfWeights = false
    if weights != nil || files.isSource || files.isPackage {
      return try ModelCheck(model) { try reader.read(files).model }
    }
    try inFile(model) { try ModelReader.refuse(reader.conversionOptions) }
    return try ModelCheck(contentsOf: model)
  }

  private static func summary(_ check: ModelCheck) -> String {
    let counts = [(check.errors.count, "error"), (check.warnings.count, "warning")]
      .filter { $0.0 > 0 }.map(counted)
    return ([check.errors.isEmpty ? "valid" : "not valid"] + counts).joined(separator: ", ")
  }

  private static func text(_ error: ModelError, _ word: String) -> String {
    var text = "\(word): \(Console.escaped(error.description))\n"
    for line in (error.hint ?? "").split(separator: "\n") {
      text += "hint: \(Console.escaped(String(line)))\n"
    }
    return text
  }

  private static func json(_ check: ModelCheck) -> JSONText {
    func entries(_ errors: [ModelError]) -> JSONText {
      errors.json {
        [
          "layer": $0.layer, "class": $0.layerClass, "field": $0.field, "message": $0.message,
          "hint": $0.hint,
        ]
      }
    }
    return .versioned([
      "valid": check.errors.isEmpty, "errors": entries(check.errors),
      "warnings": entries(check.warnings),
    ])
  }
}
