/// Reads the model of a command: an `.mlmodel` or a package unchanged, a source network as
/// `convert` would write it.
struct ModelReader {
  let source: SourceArguments
  /// The classes that compute the output shapes of custom layers.
  let customLayers: CustomLayerRegistry
  var precision: PrecisionArguments.Floats?
  let recipe: ImageRecipe?
  var forgetBias = ForgetBias.ignore
  /// The treatment of unknown layers without an option for it.
  var rules = CustomLayerRules()
  /// Replacement weights for an architecture; nil makes missing weights an error.
  var missingWeights: MissingWeights?
  /// The function of an ML Program; nil for its default.
  var function: String?
  /// The meaning of `--labels`.
  var labels = LabelUse.model

  /// The detector that a conversion describes in the model's metadata.
  var detector: DetectorArguments?
  /// Whether labels name the classes of boxes even without `--detect`.
  var describesBoxes = false
  /// Whether a GRU's reset gate may apply after the product.
  var resetsAfter = false

  enum LabelUse {
    /// The classes of a source network; an error for a Core ML model.
    case model
    /// The classes of a source network, or names for the results of a Core ML model.
    case conversion
    /// Names for results.
    case display
  }

  /// Whether an invalid Core ML model is accepted.
  var takesInvalid = false
  /// Whether to warn immediately about weights of a Core ML model that are NaN or infinite.
  var warnsOfWeights = true
  /// The model whose interface a source network gets; nil to keep the network's.
  var interface: Model?
  /// The inputs for the model, as words of the command line.
  var inputs: [String]
  var onVisit: (@Sendable (String) -> Void)?
  /// Receives the progress of a conversion.
  var progress: Progress?
  /// Receives the plan of a conversion, even an incomplete one, and returns its result.
  var onPlan: ((ConversionPlan) throws -> ConversionResult)?
  let quiet: Bool

  init(
    _ source: SourceArguments, _ customLayers: CustomLayerRegistry, _ global: GlobalOptions,
    recipe: ImageRecipe? = nil, inputs: [String] = []
  ) {
    (self.source, self.customLayers, self.recipe) = (source, customLayers, recipe)
    self.inputs = inputs
    quiet = global.quiet
  }

  struct Document {
    var model: Model
    let isSource: Bool
    /// Whether its weights are random or zero replacements.
    let lacksWeights: Bool
    /// The result of each layer of the source network.
    var plan: [PlanEntry] = []
    /// The source network and its conversion.
    var origin: ProofOrigin?
    var notes: [String] = []
  }

  /// - Parameter given: options that do not apply to a Core ML model; nil for all conversion
  ///   options.
  /// - Throws: `ModelError`, including if such options are given for a Core ML model.
  func read(_ files: ModelFiles, refusing given: [String]? = nil) throws -> Document {
    if let word = files.weights, word.hasPrefix(ModelFiles.random) {
      return try readWithRandomWeights(files.path, word, refusing: given)
    }
    return try inFile(files.path) {
      let opened = try ModelSource(
        contentsOf: files.path, weights: files.weights, sources: source.layers.sourceFiles)
      guard var document = try opened.document(missingWeights: missingWeights) else {
        try require(
          function == nil, .usage, "--function needs an ML Program, and this is a source network")
        return try convert(opened, files)
      }
      if !takesInvalid { document.model = try document.model.selectingFunction(function) }
      try Self.refuse(given ?? conversionOptions)
      if !takesInvalid {
        let doubts = try document.model.doubts()
        if !quiet { Console.warn(of: doubts, file: files.path) }
      }
      if warnsOfWeights, !quiet { Console.warnOfWeights(document.model, file: files.path) }
      return Document(model: document.model, isSource: false, lacksWeights: document.lacksWeights)
    }
  }

  private func readWithRandomWeights(
    _ path: String, _ word: String, refusing given: [String]?
  ) throws -> Document {
    let seed = try UInt64(word.dropFirst(ModelFiles.random.count)).orThrow(
      ModelError(.usage, "the seed of '\(word)' is not a whole number", file: path))
    var reader = self
    reader.missingWeights = .random(RandomWeights(seed: seed))
    let document = try reader.read(ModelFiles(path), refusing: given)
    try require(
      document.lacksWeights, .mismatch, "has its own weights, so none are random", file: path)
    if !quiet { Console.warn("\(path): the weights are random, with the seed \(seed)") }
    return document
  }

  /// The Core ML model in a file, for commands that take no source networks.
  static func model(at path: String) throws -> Model {
    try inFile(path) {
      try ModelSource(contentsOf: path).document(missingWeights: nil).orThrow(
        ModelError(
          .mismatch, "is not a Core ML model", hint: "convert it first with `assay convert`")
      ).model
    }
  }

  private var visitor: (@Sendable (String) -> Void)? {
    guard onVisit == nil, let progress else { return onVisit }
    // Layers are converted one after the other.
    nonisolated(unsafe) let line = progress
    return { _ in line.step(" layers") }
  }

  /// The given options that apply only to a conversion.
  var conversionOptions: [String] {
    source.given.filter { labels == .model || $0 != "--labels" }
      + (precision == nil ? [] : ["--precision"])
  }

  static func refuse(_ given: [String], of kind: String = "a Core ML model") throws {
    guard let option = given.first else { return }
    throw ModelError(
      .usage, "\(option) is for source networks, which are converted, and this is \(kind)",
      hint: kind == "a Core ML model" ? remedy(option) : nil)
  }

  private static func remedy(_ option: String) -> String {
    switch option {
    case "--input-name", "--output-name", "--reference-names":
      "`assay edit --rename` renames features"
    case "--input-shape": "`assay edit --shape` allows other shapes"
    case "--vision-boxes": "convert the source network again with it"
    case "--detect": "`assay edit --metadata assay.detect.K=V` describes its boxes"
    case "--precision": "`assay compress` changes the precision"
    case "--net-state", "--custom-layers", "--lambda", "--respect-trainable":
      "convert the source network again with it"
    default: "`assay edit` has the same option for Core ML models"
    }
  }

  private func convert(_ opened: ModelSource, _ files: ModelFiles) throws -> Document {
    var options = try source.options(rules)
    options.resetsAfter = resetsAfter
    if let detector, let mode = detector.mode ?? (describesBoxes ? .auto : nil) {
      let metadata = try DetectorSettings.metadata(
        of: mode, options: detector.options, labels: options.classifier?.labels.strings)
      options.metadata.userDefined.merge(metadata) { given, _ in given }
      options.classifier = nil
    }
    if labels == .display { options.classifier = nil }
    options.missingWeights = missingWeights
    options.onVisit = visitor
    if let recipe {
      options.metadata.userDefined.merge(ImageOptions.metadata(for: recipe)) { given, _ in given }
    }
    let result =
      if let onPlan {
        try onPlan(opened.plan(options, customLayers: customLayers))
      } else if let interface {
        try opened.convert(options, like: interface, customLayers: customLayers)
      } else {
        try opened.convert(options, for: inputs, customLayers: customLayers)
      }
    progress?.finish()
    var model = result.model
    if !quiet {
      for note in result.notes { Console.warn(note) }
      for step in interface == nil ? [] : model.neuralNetwork?.preprocessing ?? [] {
        let name = Console.escaped(step.featureName)
        guard let text = model.preprocessingText(step) else { continue }
        Console.note("'\(name)' is an image, as in the other model; preprocessing: \(text)")
      }
      if warnsOfWeights {
        Console.warnOfWeights(model, file: opened.weightsFile(files.path, files.weights))
      }
    }
    for type in source.names.arrayTypes where type.name != nil {
      model = try model.settingArrayType(
        type.value.dataType, of: type.name.map { model.feature(meantBy: $0) })
    }
    if forgetBias == .add { model = try model.withForgetBiasInField() }
    if precision == .float16 { model = try model.withHalfPrecisionWeights() }
    if let version = source.target?.version { try model.requireVersion(atMost: version) }
    model.specificationVersion = model.minimumSpecificationVersion
    if missingWeights == nil { try model.requireWritable() }
    return Document(
      model: model, isSource: true, lacksWeights: !opened.hasWeights, plan: result.plan,
      origin: ProofOrigin(opened, options, result), notes: result.notes)
  }
}
