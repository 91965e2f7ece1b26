/// The options of every command for converting source networks.
struct SourceArguments {
  let names: NameArguments
  let images: ImageArguments
  let classes: ClassArguments
  let layers: LayerArguments
  let metadata: MetadataArguments

  var target: SystemTarget? { layers.target }
}

/// A command that takes source networks. It declares the groups itself, since in a debug build each
/// level of nesting makes the argument parser check groups four times as often.
protocol SourceCommand: ParsableCommand {
  var sourceNames: NameArguments { get }
  var sourceImages: ImageArguments { get }
  var sourceClasses: ClassArguments { get }
  var sourceLayers: LayerArguments { get }
  var sourceMetadata: MetadataArguments { get }
}

extension SourceCommand {
  var source: SourceArguments {
    SourceArguments(
      names: sourceNames, images: sourceImages, classes: sourceClasses, layers: sourceLayers,
      metadata: sourceMetadata)
  }
}

/// The names, shapes and types of features.
struct NameArguments: ParsableArguments {
  @Option(
    name: .customLong("input-name"),
    help: .advanced("Name the inputs, in order; repeatable.", "NAME"))
  var inputs: [String] = []

  @Option(
    name: .customLong("output-name"),
    help: .advanced("Name the outputs, in order; repeatable.", "NAME"))
  var outputs: [String] = []

  @Flag(
    help: .advanced("Name inputs and outputs as coremltools 4.1 does: input1, output1 and so on."))
  var referenceNames = false

  @Option(
    name: .customLong("input-shape"),
    help: .advanced(
      "Fix unknown sizes, in the source framework's layout, batch first.", "NAME=?,224,224,3"))
  var shapes: [NamedShape] = []

  @Option(
    name: .customLong("array-type"),
    help: .advanced(
      "Data type of all array features or of one: double, float32, float16 or int32.", "[NAME=]TYPE"
    ))
  var arrayTypes: [NamedValue<ArrayTypeArgument>] = []
}

/// Images as inputs and outputs, and the preprocessing of their pixels.
struct ImageArguments: ParsableArguments {
  @Option(
    name: .customLong("image-input"), help: .usual("Make this input an image; repeatable.", "NAME"))
  var inputs: [String] = []

  @Option(
    name: .customLong("image-output"),
    help: .advanced("Make this output an image; repeatable.", "NAME"))
  var outputs: [String] = []

  @Option(help: "Preprocess the image input like a model zoo.") var preset: PreprocessingPreset?

  @Option(
    name: .customLong("color"),
    help: .advanced("Color space of all image inputs or of one.", "[NAME=]rgb|bgr|grayscale"))
  var colors: [NamedValue<Color>] = []

  @Option(
    name: .customLong("image-scale"), parsing: .unconditionalSingleValue,
    help: .advanced(
      "Multiply pixels by this, before subtracting the mean; may be a fraction such as 1/255.",
      "[NAME=]S"))
  var scales: [NamedValue<Fraction>] = []

  @Option(
    name: .customLong("image-mean"), parsing: .unconditionalSingleValue,
    help: .advanced(
      "Subtract this mean of red, green and blue, or of gray, after the scale; or Caffe's mean image, a .binaryproto or .npy.",
      "[NAME=]R,G,B|FILE"), completion: .file())
  var means: [NamedMean] = []

  @Option(
    name: .customLong("image-std"), parsing: .unconditionalSingleValue,
    help: .advanced(
      "Divide each color by this standard deviation; adds a scale layer if the three differ.",
      "[NAME=]R,G,B"))
  var deviations: [NamedValue<NumberList>] = []

  // The negative means, as options of earlier versions.

  @Option(name: .customLong("red-bias"), parsing: .unconditionalSingleValue, help: .private)
  var redBiases: [NamedValue<Fraction>] = []

  @Option(name: .customLong("green-bias"), parsing: .unconditionalSingleValue, help: .private)
  var greenBiases: [NamedValue<Fraction>] = []

  @Option(name: .customLong("blue-bias"), parsing: .unconditionalSingleValue, help: .private)
  var blueBiases: [NamedValue<Fraction>] = []

  @Option(name: .customLong("gray-bias"), parsing: .unconditionalSingleValue, help: .private)
  var grayBiases: [NamedValue<Fraction>] = []

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
}

/// The classes of a classifier.
struct ClassArguments: ParsableArguments {
  @Option(help: .usual("Class labels: one per line, or a JSON list.", "FILE"), completion: .file())
  var labels: String?

  @Option(help: .advanced("The output with the best class; default: classLabel.", "NAME"))
  var predictedFeatureName: String?

  @Option(
    help: .advanced("The blob with the probabilities; default: the last layer's output.", "BLOB"))
  var predictedProbabilitiesOutput: String?
}

/// The conversion of layers.
struct LayerArguments: ParsableArguments {
  @Option(help: .usual("The oldest system to support, iOS11 to iOS26.", "SYSTEM"))
  var target: SystemTarget?

  @Option(
    help: .usual("Make unknown layers custom: rules in JSON, or allow.", "FILE"),
    completion: .file(extensions: ["json"]))
  var customLayers: String?

  @Option(
    help: .advanced(
      "Whether to convert Keras Lambda layers whose code can be read (auto) or not (off); default: auto, or off with --custom-layers allow. The code is never run."
    ))
  var lambda: Lambda?

  @Option(
    name: .customLong("layer-source"),
    help: .usual("Python source of unknown layers, never run.", "FILE"),
    completion: .file(extensions: ["py"]))
  var layerSources: [String] = []

  /// The given files, and the Python files in the given folders.
  var sourceFiles: [String] {
    get throws {
      try layerSources.flatMap { path in
        try Folder.isFolder(path)
          ? Folder.files(below: path).filter { $0.hasSuffix(".py") } : [path]
      }
    }
  }

  @Option(
    name: .customLong("net-state"),
    help: .advanced(
      "Include the layers of this phase (test or train; default: test), level or stage of a Caffe network; repeatable.",
      "phase|level|stage=X"))
  var states: [NetState] = []

  @Flag(help: .advanced("Mark trainable layers as updatable.")) var respectTrainable = false

  enum Lambda: String, ExpressibleByArgument, CaseIterable {
    case auto
    case off
  }

  /// A field of Caffe's `NetState`.
  enum NetState: ExpressibleByArgument {
    case phase(NetworkState.Phase)
    case level(Int)
    case stage(String)

    init?(argument: String) {
      guard let pair = KeyValue(argument: argument) else { return nil }
      let value: Self? =
        switch pair.key {
        case "phase": NetworkState.Phase(rawValue: pair.value).map { .phase($0) }
        case "level": Int(pair.value).map { .level($0) }
        case "stage": .stage(pair.value)
        default: nil
        }
      guard let value else { return nil }
      self = value
    }
  }
}

/// The model's metadata.
struct MetadataArguments: ParsableArguments {
  @Option(
    name: .customLong("metadata"),
    help: .advanced(
      "Set author, license, shortDescription or versionString, or a user-defined entry, which edit removes if V is empty; repeatable.",
      "K=V"))
  var entries: [KeyValue] = []

  @Option(
    name: .customLong("description"),
    help: .advanced("Describe an input or output; repeatable.", "NAME=TEXT"))
  var descriptions: [KeyValue] = []
}

/// The precision of a source network's weights.
struct WeightPrecisionArguments: ParsableArguments {
  @Option(help: "Precision of the weights.") var precision: PrecisionArguments.Floats?
}

/// How images are fitted to the model's size, as recorded in the model.
struct RecipeArguments: ParsableArguments {
  @Option(help: .advanced("Record in the model how run resizes and crops images.", "NAME"))
  var recipe: ImageRecipe?
}

extension PreprocessingPreset: ExpressibleByArgument {}
