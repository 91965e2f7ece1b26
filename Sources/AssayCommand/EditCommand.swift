struct EditCommand: SourceCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Changes parts of a model and keeps the rest.",
    discussion: """
      EXAMPLES:
        assay edit model.mlmodel -o out.mlmodel --rename data=image
        assay edit model.mlmodel -o out.mlmodel --image-input image --preset keras-tf
        assay edit model.mlmodel -o top.mlmodel --cut-to features
        assay edit model.mlpackage -o out.mlpackage --add-output features

      Everything else is kept, even fields that this program does not know. The model is validated, \
      run before and after on random inputs if it can run, and written; an .mlmodel is read back and \
      run again.

      \(ModelHelp.discussion) Options that both commands have then apply to the conversion.
      """)

  @Argument(help: ModelHelp.model, completion: .file()) var model: String

  @Argument(help: ModelHelp.weights, completion: .file()) var weights: String?

  @Option(
    name: .output, help: .usual("The .mlmodel or .mlpackage to write.", "OUT"),
    completion: .file(extensions: ["mlmodel", "mlpackage"]))
  var destination: String

  @OptionGroup(title: "Features") var features: FeatureEditArguments
  @OptionGroup(title: "Names and shapes") var sourceNames: NameArguments
  @OptionGroup(title: "Images") var sourceImages: ImageArguments
  @OptionGroup(title: "Classes") var sourceClasses: ClassArguments
  @OptionGroup(title: "Layers") var sourceLayers: LayerArguments
  @OptionGroup(title: "Metadata") var sourceMetadata: MetadataArguments
  @OptionGroup(title: "Images") var recipe: RecipeArguments
  @OptionGroup(visibility: .advanced) var weightPrecision: WeightPrecisionArguments
  @OptionGroup(title: "Functions") var functions: FunctionEditArguments
  @OptionGroup(title: "Network") var network: NetworkEditArguments
  @OptionGroup(title: "Custom layers") var customLayers: CustomLayerArguments
  @OptionGroup(title: "Weights files") var weightFiles: WeightArguments
  @Flag(name: .customLong("no-run"), help: "Validate only; do not run the model.") var noRun = false

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @OptionGroup var global: GlobalOptions

  func validate() throws { try ModelOutput.validate(destination) }

  func run() throws {
    global.apply()
    var compile = try engine.compileOptions(for: model)
    compile.hasBoundedLoops = true
    var reader = ModelReader(source, compile.customLayers, global, recipe: recipe.recipe)
    reader.precision = weightPrecision.precision
    reader.takesInvalid = true
    let document = try reader.read(
      ModelFiles(model, weights: weights),
      refusing: source.givenForConversion
        + (weightPrecision.precision == nil ? [] : ["--precision"]))
    if !document.isSource { OpenedFiles.allowReplacing(model) }
    let edited = try inFile(model) { try edit(document, compile) }
    try inFile(destination) {
      try edited.model.withoutCopiedInterface.write(
        to: destination, verify: { try edited.check?.checkWritten($0) })
    }
    Console.wrote(destination)
  }

  private func edit(
    _ read: ModelReader.Document, _ compile: CompileOptions
  ) throws -> (model: Model, check: EditCheck?) {
    var options = Predictor.Options()
    options.engine = compile
    let document = read.model
    var edit = try self.edit(of: document)
    if !read.isSource { try change(&edit, of: document) }
    edit = edit.named(for: document)
    edit.customLayerClasses = options.engine.customLayers
    let (model, notes) = try edit.apply(to: document)
    for note in notes where !global.quiet { Console.warn(note) }
    var check = EditCheck(edit, options: options)
    if noRun {
      try model.requireWritable()
      return (model, nil)
    }
    try check.check(document, model)
    for note in check.notes where !global.quiet { Console.note(Console.escaped(note)) }
    return (model, check)
  }

  private func edit(of document: Model) throws -> ModelEdit {
    var edit = ModelEdit()
    try features.add(to: &edit)
    edit.functions = try functions.edit(keeping: engine.program.function)
    network.add(to: &edit)
    edit.customLayers = try customLayers.edits(of: document)
    edit.metadata.removedKeys = source.metadata.edit.removedKeys
    if let folder = network.weights {
      edit.weights = try weightFiles.files.read(folder, for: document)
      if !global.quiet {
        let count = document.storedWeightCount
        Console.note(
          "\(groupedText(edit.weights.count)) of \(groupedText(count)) weights from "
            + Console.escaped(folder))
      }
    }
    return edit
  }

  /// Adds the options of a conversion.
  private func change(_ edit: inout ModelEdit, of document: Model) throws {
    edit.arrayTypes = source.names.arrayTypes.map { ($0.name, $0.value.dataType) }
    edit.imageInputs = source.images.inputs
    edit.imageOutputs = source.images.outputs
    edit.preprocessing = try source.preprocessing
    edit.metadata = source.metadata.edit
    edit.version = source.target?.version
    if let recipe = recipe.recipe {
      edit.metadata.userDefined.merge(ImageOptions.metadata(for: recipe)) { given, _ in given }
      let removed = edit.metadata.removedKeys
      edit.metadata.removedKeys += (document.description?.metadata?.userDefined.keys.sorted() ?? [])
        .filter { $0.hasPrefix(ImageOptions.metadataPrefix) && !removed.contains($0) }
    }
    if let options = try source.classifier {
      var classes = ModelEdit.Classes(labels: options.labels)
      classes.labelName = options.predictedFeatureName
      classes.probabilities = options.probabilitiesOutput
      edit.classes = classes
    }
  }
}
