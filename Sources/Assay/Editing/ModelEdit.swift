import CoreMLModel
import CustomLayers
import ImportSupport
import ModelTransforms
import TensorCore

/// The changes that `edit` makes to a model. Features that `renames` renames have their new names.
package struct ModelEdit: Sendable {
  package struct Classes: Sendable {
    package var labels: NeuralNetworkClassifier.ClassLabels
    /// The name of the label output, for a network that becomes a classifier.
    package var labelName = "classLabel"
    package var probabilities: String?

    package init(labels: NeuralNetworkClassifier.ClassLabels) { self.labels = labels }
  }

  package var renames: [String: String] = [:]
  /// Edits of an ML Program's functions; all other edits apply to its default function.
  package var functions = FunctionEdit()
  package var metadata = MetadataEdit()
  package var classes: Classes?
  package var imageInputs: [String] = []
  package var imageOutputs: [String] = []
  /// Images that become arrays.
  package var arrays: [String] = []
  package var preprocessing = ImagePreprocessing()
  /// Data types of one array feature, or of all if the name is nil.
  package var arrayTypes: [(name: String?, type: ArrayFeatureType.DataType)] = []
  package var optionalInputs: [String] = []
  package var requiredInputs: [String] = []
  package var shapes: [(name: String, choice: ShapeChoice)] = []
  package var addedOutputs: [String] = []
  package var removedOutputs: [String] = []
  package var cutInputs: [String] = []
  package var cutOutputs: [String] = []
  package var customLayers: [CustomLayerEdit] = []
  /// New values of weights.
  package var weights: [WeightPath: FloatValues] = [:]
  package var version: Int?
  package var removesTraining = false
  /// The classes that compute the output shapes of custom layers.
  package var customLayerClasses = CustomLayerRegistry()

  package init() {}

  /// Whether the edited model computes different values. The arrays of an ML Program are cast to
  /// their types.
  package func changesNumbers(of model: Model) -> Bool {
    if case .mlProgram? = model.type, !arrayTypes.isEmpty { return true }
    return !weights.isEmpty || functions != FunctionEdit() || preprocessing.isUsed
      || !imageInputs.isEmpty
      || !imageOutputs.isEmpty || !arrays.isEmpty || customLayers.contains(where: \.changesNumbers)
  }

  /// The edit with names resolved to those of the model's features, which may also be given by
  /// position.
  package func named(for model: Model) -> ModelEdit {
    var edit = self
    edit.renames = renames.renamingKeys { model.feature(meantBy: $0) }
    guard let model = try? model.renamingFeatures(edit.renames) else { return edit }
    func feature(_ name: String) -> String { model.feature(meantBy: name) }
    for path in [
      \ModelEdit.imageInputs, \.imageOutputs, \.arrays, \.optionalInputs, \.requiredInputs,
      \.addedOutputs, \.removedOutputs, \.cutInputs, \.cutOutputs,
    ] {
      edit[keyPath: path] = edit[keyPath: path].map(feature)
    }
    edit.preprocessing = preprocessing.renamingFeatures(feature)
    edit.arrayTypes = arrayTypes.map { ($0.name.map(feature), $0.type) }
    edit.shapes = shapes.map { (feature($0.name), $0.choice) }
    edit.classes?.probabilities = classes?.probabilities.map(feature)
    edit.metadata.descriptions = metadata.descriptions.renamingKeys(feature)
    return edit
  }

  /// The edited model; an ML Program has the interface of its default function.
  ///
  /// - Throws: `ModelError` if an edit does not fit the model.
  package func apply(to original: Model) throws -> (model: Model, notes: [String]) {
    var notes: [String] = []
    var model = try original.editingFunctions(functions).selectingFunction(nil)
    model = try model.renamingFeatures(renames)
    if removesTraining { model = try model.withoutTraining() }
    for edit in customLayers { model = try edit.apply(to: model) }
    if !weights.isEmpty { model = try model.replacingWeights(weights) }
    let dataType = model.usualArrayType
    if !cutInputs.isEmpty || !cutOutputs.isEmpty {
      let targets = cutOutputs.isEmpty ? (model.description?.output ?? []).map(\.name) : cutOutputs
      model = try model.cut(
        from: try cutInputs.map(model.position), to: try targets.map(model.position),
        shapes: shapes, dataType: dataType)
    }
    for name in addedOutputs {
      model = try model.addingOutput(model.position(of: name), shapes: shapes, dataType: dataType)
    }
    for name in removedOutputs { model = try model.removingOutput(name) }
    if let classes {
      model = try model.settingClassLabels(
        classes.labels, label: classes.labelName, probabilities: classes.probabilities)
    }
    if case .mlProgram? = model.type, preprocessing.isUsed {
      throw ModelError(
        .unsupported, "the operations of an ML Program prepare its images",
        hint: "set the preprocessing in the source network or the .mlmodel it came from")
    }
    model = try editingInterface(model, &notes)
    model = try model.editingMetadata(metadata)
    model = model.withSufficientVersion(since: original)
    if let version { model = try model.settingVersion(version) }
    return (try model.storingFunctionInterface(), notes)
  }

  private func shapes(_ network: Model) -> [String: [Int]] {
    network.inferredBlobShapes(customLayerClasses)
  }

  /// The model before the edit, with an output for every blob that the edit makes a feature, and
  /// with values for every input that it makes required, so that both can be compared.
  func observing(_ original: Model) -> Model {
    let oldNames = Dictionary(first: renames.map { ($1, $0) })
    var model = original
    for name in cutInputs + cutOutputs + addedOutputs {
      let name = oldNames[name] ?? name
      if let position = try? model.position(of: name),
        let observed = try? model.addingOutput(position, shapes: shapes, dataType: .double)
      {
        model = observed
      }
    }
    for name in requiredInputs {
      model = (try? model.settingOptional(false, oldNames[name] ?? name)) ?? model
    }
    return model
  }

  private func editingInterface(_ model: Model, _ notes: inout [String]) throws -> Model {
    var model = model
    for name in arrays {
      if model.preparesPixels(of: name) {
        notes.append("'\(name)' is now what the first layer sees; its preprocessing was removed")
      }
      model = try model.settingArray(name)
    }
    for name in imageInputs + imageOutputs {
      model = try model.settingImage(
        name, colorSpace: preprocessing.color.named[name], shape: shapes(model)[name])
    }
    model = try PreprocessingEdit(options: preprocessing, newImages: imageInputs)
      .apply(to: model, &notes)
    for (name, type) in arrayTypes { model = try model.settingArrayType(type, of: name) }
    for name in optionalInputs { model = try model.settingOptional(true, name) }
    for name in requiredInputs { model = try model.settingOptional(false, name) }
    for (name, choice) in shapes { model = try model.settingShapes(choice, of: name) }
    return model
  }
}

extension Model {
  /// The data type of the first array feature.
  fileprivate var usualArrayType: ArrayFeatureType.DataType {
    let types = ((description?.input ?? []) + (description?.output ?? [])).compactMap {
      if case .multiArray(let array)? = $0.type?.kind { array.dataType } else { nil }
    }
    return types.first ?? .double
  }

  /// Whether a network changes the pixels of an image before its first layer.
  func preparesPixels(of name: String) -> Bool {
    (neuralNetwork?.preprocessing ?? []).contains { step in
      guard step.featureName.isEmpty || step.featureName == name else { return false }
      guard case .scaler(let scaler)? = step.preprocessor else { return true }
      var plain = NeuralNetworkImageScaler()
      plain.channelScale = 1
      plain.unknownFields = scaler.unknownFields
      return scaler != plain
    }
  }
}
