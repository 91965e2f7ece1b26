import ArgumentParser
import Assay

/// How a source network is converted, in every command.
struct SourceArguments: ParsableArguments {
  @OptionGroup(title: "Interface") var interface: InterfaceArguments
  @OptionGroup(title: "Interface") var arrays: ArrayTypeArguments
  @OptionGroup(title: "Preprocessing") var images: ImageArguments
  @OptionGroup(title: "Classifier") var classifier: ClassifierArguments
  @OptionGroup(title: "Caffe") var caffe: CaffeArguments
  @OptionGroup(title: "Layers") var layers: LayerArguments
  @OptionGroup(title: "Metadata") var metadata: MetadataArguments

  /// The options that were given, all of which are for source networks.
  var given: [String] {
    interface.given + arrays.given + images.given + classifier.given + caffe.given + layers.given
      + metadata.given
  }

  /// Those that cannot change a Core ML model.
  var givenForConversion: [String] { interface.given + caffe.givenStates + layers.given }

  /// - Parameter rules: for unknown layers, if no option says.
  func options(_ rules: CustomLayerRules = CustomLayerRules()) throws -> ConversionOptions {
    var options = ConversionOptions()
    options.inputNames = interface.inputNames
    options.outputNames = interface.outputNames
    for shape in interface.inputShapes { options.inputShapes[shape.name] = shape.sizes }
    for type in arrays.arrayTypes where type.name == nil {
      options.arrayType = type.value.dataType
    }
    options.imageInputs = images.imageInputs
    options.imageOutputs = images.imageOutputs
    options.preprocessing = images.preprocessing
    options.preprocessing.meanImage = try caffe.meanImages
    options.networkState = caffe.networkState
    options.classifier = try classifier.options()
    options.metadata = metadata.options
    options.respectTrainable = layers.respectTrainable
    options.maximumVersion = layers.maxSpec
    options.readsFormulas = layers.lambda.map { $0 == .auto } ?? (layers.customLayers != "allow")
    if let argument = layers.customLayers {
      options.customLayers = try CustomLayerRules(argument: argument)
    } else {
      options.customLayers = rules
    }
    return options
  }
}
