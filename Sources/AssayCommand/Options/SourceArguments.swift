import ArgumentParser
import Assay

/// How a source network is converted, in every command.
///
/// One flat group: in a debug build, the parser checks an option four times as often for each
/// surrounding group, and commands would take longer to start than to run.
struct SourceArguments: ParsableArguments {
  @Option(name: .customLong("input-name"), help: "Name the inputs, in order; repeatable.")
  var inputNames: [String] = []

  @Option(name: .customLong("output-name"), help: "Name the outputs, in order; repeatable.")
  var outputNames: [String] = []

  @Flag(help: "Name inputs and outputs as coremltools 4.1 does: input1, output1 and so on.")
  var referenceNames = false

  @Option(
    name: .customLong("input-shape"),
    help: ArgumentHelp(
      "Fix unknown sizes, in the source framework's layout, batch first.",
      valueName: "NAME=?,224,224,3"))
  var inputShapes: [NamedShape] = []

  @Option(
    name: .customLong("array-type"),
    help: ArgumentHelp(
      "Data type of all array features or of one: double, float32, float16 or int32.",
      valueName: "[NAME=]TYPE"))
  var arrayTypes: [NamedValue<ArrayTypeArgument>] = []

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
      "Divide each color by this standard deviation; adds a scale layer if the three differ.",
      valueName: "R,G,B"))
  var imageStd: NumberList?

  @Option(help: "The preprocessing of a model zoo.")
  var preset: PreprocessingPreset?

  @Option(
    name: .customLong("mean"),
    help: ArgumentHelp(
      "Caffe's mean image of all image inputs or of one: .binaryproto or .npy; repeatable.",
      valueName: "[NAME=]FILE"),
    completion: .file())
  var means: [NamedFile] = []

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

  @Option(help: "Include the layers of this phase of a Caffe network; default: test.")
  var phase: NetworkState.Phase?

  @Option(help: "Include the layers of this level of a Caffe network.")
  var level: Int?

  @Option(
    name: .customLong("stage"),
    help: "Include the layers of this stage of a Caffe network; repeatable.")
  var stages: [String] = []

  @Option(
    help: ArgumentHelp(
      "Convert unknown layers to custom layers: by the rules in a JSON file, or all of them (allow).",
      valueName: "FILE.json|allow"),
    completion: .file(extensions: ["json"]))
  var customLayers: String?

  @Option(
    help:
      "Whether to convert Keras Lambda layers whose code can be read (auto) or not (off); default: auto, or off with --custom-layers allow. The code is never run."
  )
  var lambda: Lambda?

  @Option(
    help: ArgumentHelp(
      "The highest version of the specification that the model may need. Layers of later versions "
        + "are replaced if possible; an error names the others.", valueName: "N"))
  var maxSpec: Int?

  @Flag(help: "Mark trainable layers as updatable.")
  var respectTrainable = false

  @Option(help: "The author of the model.") var author: String?
  @Option(help: "The license of the model.") var license: String?
  @Option(help: "What the model does.") var shortDescription: String?
  @Option(help: "The version of the model.") var versionString: String?

  @Option(
    name: .customLong("metadata"),
    help: ArgumentHelp("Add an entry to the user-defined metadata; repeatable.", valueName: "K=V"))
  var metadataEntries: [KeyValue] = []

  @Option(
    name: .customLong("input-description"),
    help: ArgumentHelp("Describe an input; repeatable.", valueName: "NAME=TEXT"))
  var inputDescriptions: [KeyValue] = []

  @Option(
    name: .customLong("output-description"),
    help: ArgumentHelp("Describe an output; repeatable.", valueName: "NAME=TEXT"))
  var outputDescriptions: [KeyValue] = []

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

  enum Lambda: String, ExpressibleByArgument, CaseIterable {
    case auto
    case off
  }

  func validate() throws {
    if let maxSpec, !(1...SpecificationVersion.newest).contains(maxSpec) {
      throw ValidationError("--max-spec takes a version from 1 to \(SpecificationVersion.newest)")
    }
  }
}

/// The precision of a source network's weights.
struct WeightPrecisionArguments: ParsableArguments {
  @Option(
    name: [.long, .customLong("weights-precision")],
    help: "Precision of the weights; default: float32.")
  var precision: PrecisionArguments.Floats?
}

/// How images are fitted to the model's size, as recorded in the model.
struct RecipeArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Record in the model how run resizes and crops images.",
      valueName: "NAME"))
  var recipe: ImageRecipe?
}

extension NetworkState.Phase: ExpressibleByArgument {}

extension PreprocessingPreset: ExpressibleByArgument {}
