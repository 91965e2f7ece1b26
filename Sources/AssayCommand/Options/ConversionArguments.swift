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

  var given: [String] {
    [
      ("--input-name", !inputNames.isEmpty), ("--output-name", !outputNames.isEmpty),
      ("--input-shape", !inputShapes.isEmpty),
    ].given
  }
}

/// Data types of array features.
struct ArrayTypeArguments: ParsableArguments {
  @Option(
    name: .customLong("array-type"),
    help: ArgumentHelp(
      "Data type of all array features or of one: double, float32, float16 or int32.",
      valueName: "[NAME=]TYPE"))
  var arrayTypes: [NamedValue<ArrayTypeArgument>] = []

  var given: [String] { [("--array-type", !arrayTypes.isEmpty)].given }
}

extension [(String, Bool)] {
  /// The names of options that were given.
  var given: [String] { filter(\.1).map(\.0) }
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

  var given: [String] {
    [
      ("--image-input", !imageInputs.isEmpty), ("--image-output", !imageOutputs.isEmpty),
      ("--color", !colors.isEmpty), ("--image-scale", !imageScales.isEmpty),
      ("--red-bias", !redBiases.isEmpty), ("--green-bias", !greenBiases.isEmpty),
      ("--blue-bias", !blueBiases.isEmpty), ("--gray-bias", !grayBiases.isEmpty),
      ("--image-mean", imageMean != nil), ("--image-std", imageStd != nil),
      ("--preset", preset != nil),
    ].given
  }
}

/// How images are brought into the model's size, as a model records it.
struct RecipeArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Record in the model how run resizes and crops images.",
      valueName: "NAME"))
  var recipe: ImageRecipe?
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

  @Option(help: "The output with the best class; default: classLabel.")
  var predictedFeatureName: String?

  @Option(help: "The blob with the probabilities; default: the last layer's output.")
  var predictedProbabilitiesOutput: String?

  var given: [String] {
    [
      ("--class-labels", classLabels != nil),
      ("--predicted-feature-name", predictedFeatureName != nil),
      ("--predicted-probabilities-output", predictedProbabilitiesOutput != nil),
    ].given
  }

  func options() throws -> ClassifierOptions? {
    guard let classLabels else { return nil }
    let labels = NeuralNetworkClassifier.ClassLabels(try LabelFile.read(classLabels))
    var options = ClassifierOptions(labels: labels)
    if let predictedFeatureName { options.predictedFeatureName = predictedFeatureName }
    options.probabilitiesOutput = predictedProbabilitiesOutput
    return options
  }
}
