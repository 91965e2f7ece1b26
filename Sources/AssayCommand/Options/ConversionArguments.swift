import ArgumentParser
import Assay

/// Names, shapes and types of the model's features.
struct InterfaceArguments: ParsableArguments {
  @Option(
    name: .customLong("input-name"), help: "Name the inputs, in order; repeatable.")
  var inputNames: [String] = []

  @Option(
    name: .customLong("output-name"), help: "Name the outputs, in order; repeatable.")
  var outputNames: [String] = []

  @Option(
    name: .customLong("input-shape"),
    help: ArgumentHelp(
      "Fix unknown sizes, in the source framework's layout, batch first.",
      valueName: "NAME=?,224,224,3"))
  var inputShapes: [NamedShape] = []

  @Option(help: "Data type of array features.")
  var arrayType = ArrayType.double

  enum ArrayType: String, ExpressibleByArgument, CaseIterable {
    case double
    case float32
  }
}

/// Image features and their preprocessing.
struct ImageArguments: ParsableArguments {
  @Option(name: .customLong("image-input"), help: "Make this input an image; repeatable.")
  var imageInputs: [String] = []

  @Option(name: .customLong("image-output"), help: "Make this output an image; repeatable.")
  var imageOutputs: [String] = []

  @Option(
    name: .customLong("color"),
    help: ArgumentHelp(
      "Color space of all image inputs or of one.", valueName: "[NAME=]rgb|bgr|grayscale"))
  var colors: [NamedValue<Color>] = []

  @Option(
    name: .customLong("image-scale"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Multiply pixels by this, before adding the bias; may be a fraction such as 1/255.",
      valueName: "[NAME=]S"))
  var imageScales: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("red-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Add this to red, after the scale.", valueName: "[NAME=]B"))
  var redBiases: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("green-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Add this to green, after the scale.", valueName: "[NAME=]B"))
  var greenBiases: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("blue-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Add this to blue, after the scale.", valueName: "[NAME=]B"))
  var blueBiases: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("gray-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Add this to gray, after the scale.", valueName: "[NAME=]B"))
  var grayBiases: [NamedValue<Fraction>] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Subtract this mean from each color, after the scale.", valueName: "R,G,B"))
  var imageMean: NumberList?

  @Option(
    help: ArgumentHelp(
      "Divide each color by this standard deviation; inserts a scale layer if the three differ.",
      valueName: "R,G,B"))
  var imageStd: NumberList?

  @Option(help: "The preprocessing of a model zoo.")
  var preset: PreprocessingPreset?

  @Option(
    help: ArgumentHelp(
      "Record in the model how run resizes and crops images.",
      valueName: "NAME"))
  var recipe: ImageRecipe?

  enum Color: String, ExpressibleByArgument, CaseIterable {
    case rgb
    case bgr
    case grayscale

    var colorSpace: ImageFeatureType.ColorSpace {
      switch self {
      case .rgb: .rgb
      case .bgr: .bgr
      case .grayscale: .grayscale
      }
    }
  }

  var preprocessing: ImagePreprocessing {
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
    return preprocessing
  }
}

extension PreprocessingPreset: ExpressibleByArgument {}

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

/// Options that make a classifier.
struct ClassifierArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Class labels: a text file with one per line, or a JSON list of strings or integers.",
      valueName: "FILE"),
    completion: .file())
  var classLabels: String?

  @Option(help: "The output with the best class.")
  var predictedFeatureName = "classLabel"

  @Option(help: "The blob with the probabilities; default: the last layer's output.")
  var predictedProbabilitiesOutput: String?

  func options() throws -> ClassifierOptions? {
    guard let classLabels else { return nil }
    let labels = NeuralNetworkClassifier.ClassLabels(try LabelFile.read(classLabels))
    var options = ClassifierOptions(labels: labels)
    options.predictedFeatureName = predictedFeatureName
    options.probabilitiesOutput = predictedProbabilitiesOutput
    return options
  }
}

struct MetadataArguments: ParsableArguments {
  @Option(help: "The author of the model.") var author: String?
  @Option(help: "The license of the model.") var license: String?
  @Option(help: "What the model does.") var shortDescription: String?
  @Option(help: "The version of the model.") var versionString: String?

  @Option(
    name: .customLong("metadata"),
    help: ArgumentHelp("Add an entry to the user-defined metadata; repeatable.", valueName: "K=V"))
  var entries: [KeyValue] = []

  @Option(
    name: .customLong("input-description"),
    help: ArgumentHelp("Describe an input; repeatable.", valueName: "NAME=TEXT"))
  var inputDescriptions: [KeyValue] = []

  @Option(
    name: .customLong("output-description"),
    help: ArgumentHelp("Describe an output; repeatable.", valueName: "NAME=TEXT"))
  var outputDescriptions: [KeyValue] = []

  var options: MetadataOptions {
    var options = MetadataOptions()
    options.author = author ?? ""
    options.license = license ?? ""
    options.shortDescription = shortDescription ?? ""
    options.versionString = versionString ?? ""
    for entry in entries { options.userDefined[entry.key] = entry.value }
    for entry in inputDescriptions { options.inputDescriptions[entry.key] = entry.value }
    for entry in outputDescriptions { options.outputDescriptions[entry.key] = entry.value }
    return options
  }
}
