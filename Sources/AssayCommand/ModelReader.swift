import Assay

/// Reads the model of a command: an `.mlmodel` or a package as it is, a source network as `convert`
/// would write it.
struct ModelReader {
  let source: SourceArguments
  /// Asked for the output shapes of custom layers.
  let customLayers: CustomLayerRegistry
  let precision: PrecisionArguments.Floats?
  let recipe: ImageRecipe?
  let forgetBias: ForgetBias
  /// What becomes of unknown layers, if no option says.
  var rules = CustomLayerRules()
  /// For an architecture without weights; nil makes that an error.
  var missingWeights: MissingWeights?
  /// The function of an ML Program; nil for its default.
  var function: String?
  /// Whether a Core ML model is taken whatever is wrong with it.
  var takesInvalid = false
  /// Whether to say at once which weights of a Core ML model are not finite.
  var warnsOfWeights = true
  /// What the model is going to run on, as words of the command line.
  var inputs: [String]
  var onVisit: (@Sendable (String) -> Void)?
  /// Shows how far a conversion has come.
  var progress: Progress?
  /// Takes the plan of a conversion, which goes as far as it can, and gives its result.
  var onPlan: ((ConversionPlan) throws -> ConversionResult)?
  let quiet: Bool

  init(
    _ source: SourceArguments, _ customLayers: CustomLayerRegistry, _ global: GlobalOptions,
    precision: WeightPrecisionArguments? = nil, recipe: ImageRecipe? = nil,
    forgetBias: ForgetBias = .ignore, inputs: [String] = []
  ) {
    self.source = source
    self.customLayers = customLayers
    self.precision = precision?.precision
    self.recipe = recipe
    self.forgetBias = forgetBias
    self.inputs = inputs
    quiet = global.quiet
  }

  struct Document {
    var model: Model
    let isSource: Bool
    /// Whether it has other weights than its own.
    let lacksWeights: Bool
    /// What each layer of a source network became.
    var plan: [PlanEntry] = []
    /// The source network, and what is known about its conversion.
    var origin: ProofOrigin?
    var notes: [String] = []
  }

  /// - Parameter given: options without a meaning for a Core ML model; nil for all of a conversion.
  /// - Throws: `ModelError`, also where there are such options and the model is Core ML's.
  func read(_ files: ModelFiles, refusing given: [String]? = nil) throws -> Document {
    try inFile(files.path) {
      let opened = try ModelSource(contentsOf: files.path, weights: files.weights)
      guard var document = try opened.document(missingWeights: missingWeights) else {
        try require(
          function == nil, .usage, "--function needs an ML Program, and this is a source network")
        return try convert(opened, files)
      }
      if !takesInvalid { document.model = try document.model.selectingFunction(function) }
      try Self.refuse(given ?? conversionOptions)
      if !takesInvalid { try document.model.requireValid() }
      if warnsOfWeights, !quiet { Console.warnOfWeights(document.model, file: files.path) }
      return Document(
        model: document.model, isSource: false, lacksWeights: document.lacksWeights)
    }
  }

  /// The network that these files hold, converted.
  ///
  /// - Throws: also where it is a Core ML model.
  func converted(_ files: ModelFiles) throws -> Document {
    try inFile(files.path) {
      try convert(try ModelSource(contentsOf: files.path, weights: files.weights), files)
    }
  }

  private var visitor: (@Sendable (String) -> Void)? {
    guard onVisit == nil, let progress else { return onVisit }
    // The layers are visited one after the other.
    nonisolated(unsafe) let line = progress
    return { _ in line.step(" layers") }
  }

  /// The options that were given and are for a conversion only.
  var conversionOptions: [String] { source.given + (precision == nil ? [] : ["--precision"]) }

  static func refuse(_ given: [String], of kind: String = "a Core ML model") throws {
    guard let option = given.first else { return }
    throw ModelError(
      .usage, "\(option) is for source networks, which are converted, and this is \(kind)",
      hint: kind == "a Core ML model" ? remedy(option) : nil)
  }

  private static func remedy(_ option: String) -> String {
    switch option {
    case "--input-name", "--output-name": "`assay edit --rename` renames features"
    case "--input-shape": "`assay edit --allow-shape` and --shape-range allow other shapes"
    case "--precision": "`assay compress` changes the precision"
    case "--phase", "--level", "--stage", "--custom-layers", "--lambda", "--max-spec",
      "--respect-trainable":
      "convert the source network again with it"
    default: "`assay edit` has the same option for Core ML models"
    }
  }

  private func convert(_ opened: ModelSource, _ files: ModelFiles) throws -> Document {
    var options = try source.options(rules)
    options.missingWeights = missingWeights
    options.onVisit = visitor
    if let recipe {
      options.metadata.userDefined.merge(ImageOptions.metadata(for: recipe)) { given, _ in given }
    }
    let result =
      if let onPlan {
        try onPlan(opened.plan(options, customLayers: customLayers))
      } else {
        try opened.convert(options, for: inputs, customLayers: customLayers)
      }
    progress?.finish()
    var model = result.model
    if !quiet {
      for note in result.notes { Console.warn(note) }
      Console.warnOfWeights(model, file: opened.weightsFile(files.path, files.weights))
    }
    for type in source.arrayTypes where type.name != nil {
      model = try model.settingArrayType(type.value.dataType, of: type.name)
    }
    if forgetBias == .add { model = try model.withForgetBiasInField() }
    if precision == .float16 { model = try model.withHalfPrecisionWeights() }
    if let version = source.maxSpec { try model.requireVersion(atMost: version) }
    model.specificationVersion = model.minimumSpecificationVersion
    if missingWeights == nil { try model.requireWritable() }
    return Document(
      model: model, isSource: true, lacksWeights: !opened.hasWeights, plan: result.plan,
      origin: ProofOrigin(opened, options, result), notes: result.notes)
  }
}
