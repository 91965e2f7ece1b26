import ArgumentParser
import Assay

/// Names, shapes and types of the model's features.
struct InterfaceArguments: ParsableArguments {
  @Option(
    name: .customLong("input-name"), help: "Name of an input, in order; repeatable.")
  var inputNames: [String] = []

  @Option(
    name: .customLong("output-name"), help: "Name of an output, in order; repeatable.")
  var outputNames: [String] = []

  @Option(
    name: .customLong("input-shape"),
    help: ArgumentHelp(
      "Fixes unknown sizes, in the source framework's layout, batch first.",
      valueName: "NAME=?,224,224,3"))
  var inputShapes: [NamedShape] = []

  @Option(help: "Data type of array features.")
  var arrayType = ArrayType.double

  enum ArrayType: String, ExpressibleByArgument, CaseIterable {
    case double
    case float32
  }
}

/// Which features are images, and what happens to their pixels.
struct ImageArguments: ParsableArguments {
  @Option(name: .customLong("image-input"), help: "This input is an image; repeatable.")
  var imageInputs: [String] = []

  @Option(name: .customLong("image-output"), help: "This output is an image; repeatable.")
  var imageOutputs: [String] = []

  @Option(
    name: .customLong("color"),
    help: ArgumentHelp(
      "Colour space of all image inputs, or of one.", valueName: "[NAME=]rgb|bgr|grayscale"))
  var colors: [NamedValue<Color>] = []

  @Option(
    name: .customLong("image-scale"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Scale of the pixels, before the bias; may be a fraction such as 1/255.",
      valueName: "[NAME=]S"))
  var imageScales: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("red-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Added to red after the scale.", valueName: "[NAME=]B"))
  var redBiases: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("green-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Added to green after the scale.", valueName: "[NAME=]B"))
  var greenBiases: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("blue-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Added to blue after the scale.", valueName: "[NAME=]B"))
  var blueBiases: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("gray-bias"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Added to grey after the scale.", valueName: "[NAME=]B"))
  var grayBiases: [NamedValue<Fraction>] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Mean of each colour, subtracted after the scale.", valueName: "R,G,B"))
  var imageMean: NumberList?

  @Option(
    help: ArgumentHelp(
      "Standard deviation of each colour; where the three differ, a scale layer is inserted.",
      valueName: "R,G,B"))
  var imageStd: NumberList?

  @Option(help: "The usual preprocessing of a model zoo.")
  var preset: PreprocessingPreset?

  @Option(
    help: ArgumentHelp(
      "How run brings pictures into the model's size; recorded in the model's metadata.",
      valueName: "NAME"))
  var recipe: PictureRecipe?

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

/// Makes a classifier.
struct ClassifierArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Class labels: a text file, one a line, or a JSON list of strings or integers.",
      valueName: "FILE"),
    completion: .file())
  var classLabels: String?

  @Option(help: "Name of the output that holds the best class.")
  var predictedFeatureName = "classLabel"

  @Option(help: "The blob that holds the probabilities; the last layer's output by default.")
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
  @Option var author: String?
  @Option var license: String?
  @Option var shortDescription: String?
  @Option var versionString: String?

  @Option(
    name: .customLong("metadata"),
    help: ArgumentHelp("An entry of the user-defined metadata; repeatable.", valueName: "K=V"))
  var entries: [KeyValue] = []

  @Option(
    name: .customLong("input-description"),
    help: ArgumentHelp("What an input is; repeatable.", valueName: "NAME=TEXT"))
  var inputDescriptions: [KeyValue] = []

  @Option(
    name: .customLong("output-description"),
    help: ArgumentHelp("What an output is; repeatable.", valueName: "NAME=TEXT"))
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
