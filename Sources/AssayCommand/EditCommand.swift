import ArgumentParser
import Assay

struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Changes parts of an .mlmodel and leaves the rest untouched.",
    discussion: """
      EXAMPLES:
        assay edit model.mlmodel -o out.mlmodel --rename data=image
        assay edit model.mlmodel -o out.mlmodel --image-input image --preset keras-tf
        assay edit model.mlmodel -o top.mlmodel --cut-to features

      Everything else is kept, even fields that this program does not know. The model is validated, \
      run before and after on random inputs if it can run, written, read back and run again.
      """)

  @Argument(help: "The .mlmodel to edit.", completion: .file(extensions: ["mlmodel"]))
  var model: String

  @Option(
    name: .customShort("o"), help: ArgumentHelp("The .mlmodel to write.", valueName: "OUT.mlmodel"),
    completion: .file(extensions: ["mlmodel"]))
  var destination: String

  @OptionGroup(title: "Features") var features: FeatureEditArguments
  @OptionGroup(title: "Images") var images: ImageArguments

  @Option(
    name: .customLong("mean"),
    help: ArgumentHelp(
      "Mean image of all image inputs, or of one: .binaryproto or .npy; repeatable.",
      valueName: "[NAME=]FILE"),
    completion: .file())
  var means: [NamedFile] = []

  @OptionGroup(title: "Classifier") var classifier: ClassifierArguments
  @OptionGroup(title: "Network") var network: NetworkEditArguments
  @OptionGroup(title: "Custom layers") var customLayers: CustomLayerArguments
  @OptionGroup(title: "Weights files") var weightFiles: WeightArguments
  @OptionGroup(title: "Metadata") var metadata: MetadataArguments

  @Option(
    name: .customLong("remove-metadata"),
    help: ArgumentHelp(
      "Remove an entry of the user-defined metadata; repeatable.", valueName: "K"))
  var removedKeys: [String] = []

  @Flag(name: .customLong("no-run"), help: "Validate only; do not run the model.")
  var noRun = false

  @OptionGroup(title: "Engine") var engine: EngineArguments

  @OptionGroup var global: GlobalOptions

  func run() throws {
    global.apply()
    let document = try inFile(model) { try Model(uncheckedContentsOf: model) }
    let edited = try inFile(model) { try edit(document) }
    try inFile(destination) { try edited.model.write(to: destination) }
    if destination != "-", var check = edited.check {
      try inFile(destination) {
        try check.checkWritten(edited.model, Model(contentsOf: destination))
      }
    }
    Console.wrote(destination)
  }

  private func edit(_ document: Model) throws -> (model: Model, check: EditCheck?) {
    var options = Predictor.Options()
    options.engine = try engine.compileOptions()
    options.forgetBias = engine.forgetBias
    var edit = try self.edit(of: document)
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
    network.add(to: &edit)
    edit.imageInputs = images.imageInputs
    edit.imageOutputs = images.imageOutputs
    edit.preprocessing = images.preprocessing
    edit.preprocessing.meanImage = try CaffeArguments.images(means)
    edit.customLayers = try customLayers.edits(of: document)
    edit.metadata = metadata.edit
    edit.metadata.removedKeys = removedKeys
    if let recipe = images.recipe {
      edit.metadata.userDefined.merge(ImageOptions.metadata(for: recipe)) { given, _ in given }
      edit.metadata.removedKeys += (document.description?.metadata?.userDefined.keys.sorted() ?? [])
        .filter { $0.hasPrefix(ImageOptions.metadataPrefix) && !removedKeys.contains($0) }
    }
    if let options = try classifier.options() {
      var classes = ModelEdit.Classes(labels: options.labels)
      classes.labelName = options.predictedFeatureName
      classes.probabilities = options.probabilitiesOutput
      edit.classes = classes
    }
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
}

extension MetadataArguments {
  /// What was named; the rest stays.
  fileprivate var edit: MetadataEdit {
    var edit = MetadataEdit()
    edit.author = author
    edit.license = license
    edit.shortDescription = shortDescription
    edit.versionString = versionString
    let options = self.options
    edit.userDefined = options.userDefined
    edit.inputDescriptions = options.inputDescriptions
    edit.outputDescriptions = options.outputDescriptions
    return edit
  }
}
