extension SourceArguments {
  /// The given options, all of which apply to source networks.
  var given: [String] { given(exceptForPrograms: false) }

  /// - Parameter exceptForPrograms: omits options that also apply to a conversion to an ML Program.
  func given(exceptForPrograms: Bool) -> [String] {
    let forModels = [
      ("--array-type", !names.arrayTypes.isEmpty), ("--image-input", !images.inputs.isEmpty),
      ("--image-output", !images.outputs.isEmpty), ("--color", !images.colors.isEmpty),
      ("--image-scale", !images.scales.isEmpty), ("--red-bias", !images.redBiases.isEmpty),
      ("--green-bias", !images.greenBiases.isEmpty), ("--blue-bias", !images.blueBiases.isEmpty),
      ("--gray-bias", !images.grayBiases.isEmpty), ("--image-mean", !images.means.isEmpty),
      ("--image-std", !images.deviations.isEmpty), ("--preset", images.preset != nil),
      ("--labels", classes.labels != nil),
      ("--predicted-feature-name", classes.predictedFeatureName != nil),
      ("--predicted-probabilities-output", classes.predictedProbabilitiesOutput != nil),
      ("--metadata", !metadata.entries.isEmpty),
      ("--description", !metadata.descriptions.isEmpty),
      ("--target", target != nil && !exceptForPrograms),
    ]
    return givenForConversion + forModels.filter(\.1).map(\.0)
  }

  /// The options that cannot change a Core ML model.
  var givenForConversion: [String] {
    [
      ("--input-name", !names.inputs.isEmpty), ("--output-name", !names.outputs.isEmpty),
      ("--reference-names", names.referenceNames),
      ("--input-shape", !names.shapes.isEmpty), ("--net-state", !layers.states.isEmpty),
      ("--custom-layers", layers.customLayers != nil), ("--lambda", layers.lambda != nil),
      ("--layer-source", !layers.layerSources.isEmpty),
      ("--respect-trainable", layers.respectTrainable),
    ].filter(\.1).map(\.0)
  }

  /// - Parameter rules: the rules for unknown layers without an option for them.
  func options(_ rules: CustomLayerRules = CustomLayerRules()) throws -> ConversionOptions {
    var options = ConversionOptions()
    options.inputNames = names.inputs
    options.outputNames = names.outputs
    options.usesReferenceNames = names.referenceNames
    for shape in names.shapes { options.inputShapes[shape.name] = shape.sizes }
    for type in names.arrayTypes where type.name == nil { options.arrayType = type.value.dataType }
    options.imageInputs = images.inputs
    options.imageOutputs = images.outputs
    options.preprocessing = try preprocessing
    for state in layers.states {
      switch state {
      case .phase(let phase): options.networkState.phase = phase
      case .level(let level): options.networkState.level = level
      case .stage(let stage): options.networkState.stages.insert(stage)
      }
    }
    options.classifier = try classifier
    options.metadata = metadata.options
    options.respectTrainable = layers.respectTrainable
    options.maximumVersion = target?.version
    options.readsFormulas = layers.lambda.map { $0 == .auto } ?? (layers.customLayers != "allow")
    options.layerSources = try layers.sourceFiles
    options.customLayers = try layers.customLayers.map(CustomLayerRules.init(argument:)) ?? rules
    return options
  }

  var preprocessing: ImagePreprocessing {
    get throws {
      var preprocessing = ImagePreprocessing()
      preprocessing.color = PerFeature(images.colors) { $0.colorSpace }
      preprocessing.scale = PerFeature(images.scales) { $0.value }
      preprocessing.redBias = PerFeature(images.redBiases) { $0.value }
      preprocessing.greenBias = PerFeature(images.greenBiases) { $0.value }
      preprocessing.blueBias = PerFeature(images.blueBiases) { $0.value }
      preprocessing.grayBias = PerFeature(images.grayBiases) { $0.value }
      preprocessing.std = PerFeature(images.deviations) { $0.values }
      preprocessing.preset = images.preset
      for mean in images.means {
        switch mean.value {
        case .numbers(let list): preprocessing.mean.set(list.values, for: mean.name)
        case .file(let file):
          preprocessing.meanImage.set(try MeanImage(contentsOf: file), for: mean.name)
        }
      }
      return preprocessing
    }
  }

  var classifier: ClassifierOptions? {
    get throws {
      guard let labels = classes.labels else { return nil }
      var options = ClassifierOptions(
        labels: NeuralNetworkClassifier.ClassLabels(try LabelFile.read(labels)))
      if let name = classes.predictedFeatureName { options.predictedFeatureName = name }
      options.probabilitiesOutput = classes.predictedProbabilitiesOutput
      return options
    }
  }
}

extension MetadataArguments {
  /// The edit that sets the given entries and keeps all others.
  var edit: MetadataEdit {
    var edit = MetadataEdit()
    for entry in entries {
      switch entry.key {
      case "author": edit.author = entry.value
      case "license": edit.license = entry.value
      case "shortDescription": edit.shortDescription = entry.value
      case "versionString": edit.versionString = entry.value
      case let key where entry.value.isEmpty: edit.removedKeys.append(key)
      case let key: edit.userDefined[key] = entry.value
      }
    }
    for text in descriptions { edit.descriptions[text.key] = text.value }
    return edit
  }

  var options: MetadataOptions {
    var options = MetadataOptions()
    options.author = edit.author ?? ""
    options.license = edit.license ?? ""
    options.shortDescription = edit.shortDescription ?? ""
    options.versionString = edit.versionString ?? ""
    options.userDefined = edit.userDefined
    options.descriptions = edit.descriptions
    return options
  }
}

extension PerFeature {
  init<Argument>(_ arguments: [NamedValue<Argument>], _ transform: (Argument) -> Value) {
    self.init()
    for argument in arguments { set(transform(argument.value), for: argument.name) }
  }

  mutating func set(_ value: Value, for name: String?) {
    if let name { named[name] = value } else { all = value }
  }
}

extension CustomLayerRules {
  /// Parses the value of `--custom-layers`.
  init(argument: String) throws {
    self = argument == "allow" ? .allow : try CustomLayerRules(contentsOf: argument)
  }
}
