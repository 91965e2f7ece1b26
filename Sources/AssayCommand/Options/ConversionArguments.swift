import ArgumentParser
import Assay

extension SourceArguments {
  /// The given options, all of which apply to source networks.
  var given: [String] {
    let forModels = [
      ("--array-type", !arrayTypes.isEmpty), ("--image-input", !imageInputs.isEmpty),
      ("--image-output", !imageOutputs.isEmpty), ("--color", !colors.isEmpty),
      ("--image-scale", !imageScales.isEmpty), ("--red-bias", !redBiases.isEmpty),
      ("--green-bias", !greenBiases.isEmpty), ("--blue-bias", !blueBiases.isEmpty),
      ("--gray-bias", !grayBiases.isEmpty), ("--image-mean", imageMean != nil),
      ("--image-std", imageStd != nil), ("--preset", preset != nil), ("--mean", !means.isEmpty),
      ("--class-labels", classLabels != nil),
      ("--predicted-feature-name", predictedFeatureName != nil),
      ("--predicted-probabilities-output", predictedProbabilitiesOutput != nil),
      ("--author", author != nil), ("--license", license != nil),
      ("--short-description", shortDescription != nil), ("--version-string", versionString != nil),
      ("--metadata", !metadataEntries.isEmpty),
      ("--input-description", !inputDescriptions.isEmpty),
      ("--output-description", !outputDescriptions.isEmpty),
    ]
    return givenForConversion + forModels.filter(\.1).map(\.0)
  }

  /// The options that cannot change a Core ML model.
  var givenForConversion: [String] {
    [
      ("--input-name", !inputNames.isEmpty), ("--output-name", !outputNames.isEmpty),
      ("--reference-names", referenceNames),
      ("--input-shape", !inputShapes.isEmpty), ("--phase", phase != nil),
      ("--level", level != nil), ("--stage", !stages.isEmpty),
      ("--custom-layers", customLayers != nil), ("--lambda", lambda != nil),
      ("--max-spec", maxSpec != nil), ("--respect-trainable", respectTrainable),
    ].filter(\.1).map(\.0)
  }

  /// - Parameter rules: the rules for unknown layers without an option for them.
  func options(_ rules: CustomLayerRules = CustomLayerRules()) throws -> ConversionOptions {
    var options = ConversionOptions()
    options.inputNames = inputNames
    options.outputNames = outputNames
    options.usesReferenceNames = referenceNames
    for shape in inputShapes { options.inputShapes[shape.name] = shape.sizes }
    for type in arrayTypes where type.name == nil { options.arrayType = type.value.dataType }
    options.imageInputs = imageInputs
    options.imageOutputs = imageOutputs
    options.preprocessing = try preprocessing
    options.networkState.phase = phase ?? .test
    options.networkState.level = level
    options.networkState.stages = Set(stages)
    options.classifier = try classifier
    options.metadata = metadata
    options.respectTrainable = respectTrainable
    options.maximumVersion = maxSpec
    options.readsFormulas = lambda.map { $0 == .auto } ?? (customLayers != "allow")
    options.customLayers = try customLayers.map(CustomLayerRules.init(argument:)) ?? rules
    return options
  }

  var preprocessing: ImagePreprocessing {
    get throws {
      var preprocessing = ImagePreprocessing()
      preprocessing.color = PerFeature(colors) { $0.colorSpace }
      preprocessing.scale = PerFeature(imageScales) { $0.value }
      preprocessing.redBias = PerFeature(redBiases) { $0.value }
      preprocessing.greenBias = PerFeature(greenBiases) { $0.value }
      preprocessing.blueBias = PerFeature(blueBiases) { $0.value }
      preprocessing.grayBias = PerFeature(grayBiases) { $0.value }
      preprocessing.mean = PerFeature(imageMean?.values)
      preprocessing.std = PerFeature(imageStd?.values)
      preprocessing.preset = preset
      for mean in means {
        let image = try MeanImage(contentsOf: mean.file)
        if let name = mean.name {
          preprocessing.meanImage.named[name] = image
        } else {
          preprocessing.meanImage.all = image
        }
      }
      return preprocessing
    }
  }

  var classifier: ClassifierOptions? {
    get throws {
      guard let classLabels else { return nil }
      var options = ClassifierOptions(
        labels: NeuralNetworkClassifier.ClassLabels(try LabelFile.read(classLabels)))
      if let predictedFeatureName { options.predictedFeatureName = predictedFeatureName }
      options.probabilitiesOutput = predictedProbabilitiesOutput
      return options
    }
  }

  var metadata: MetadataOptions {
    var options = MetadataOptions()
    options.author = author ?? ""
    options.license = license ?? ""
    options.shortDescription = shortDescription ?? ""
    options.versionString = versionString ?? ""
    for entry in metadataEntries { options.userDefined[entry.key] = entry.value }
    for entry in inputDescriptions { options.inputDescriptions[entry.key] = entry.value }
    for entry in outputDescriptions { options.outputDescriptions[entry.key] = entry.value }
    return options
  }
}

extension PerFeature {
  init<Argument>(_ arguments: [NamedValue<Argument>], _ transform: (Argument) -> Value) {
    self.init()
    for argument in arguments {
      if let name = argument.name {
        named[name] = transform(argument.value)
      } else {
        all = transform(argument.value)
      }
    }
  }
}

extension CustomLayerRules {
  /// The word after `--custom-layers`.
  init(argument: String) throws {
    self = argument == "allow" ? .allow : try CustomLayerRules(contentsOf: argument)
  }
}
