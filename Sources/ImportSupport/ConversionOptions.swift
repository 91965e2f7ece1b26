import CoreMLModel

/// Options of a conversion from any framework. Features are identified by their names in the model,
/// which `inputNames` and `outputNames` change, or by position: `input1`, `output1` and so on.
public struct ConversionOptions: Sendable {
  /// New input names, in the model's order; a shorter list renames the first inputs.
  public var inputNames: [String] = []
  /// New output names, in the model's order.
  public var outputNames: [String] = []
  /// Whether the features of a Keras model are named `input1`, `output1` and so on, as in
  /// coremltools 4.1, instead of after its layers.
  public var usesReferenceNames = false
  /// Input sizes in the source framework's layout, batch first; nil keeps a size.
  public var inputShapes: [String: [Int?]] = [:]
  /// The element type of the model's arrays.
  public var arrayType = ArrayFeatureType.DataType.double
  /// Inputs that take images.
  public var imageInputs: [String] = []
  /// Outputs that return images.
  public var imageOutputs: [String] = []
  /// The preprocessing of images.
  public var preprocessing = ImagePreprocessing()
  /// Class labels, to turn the model into a classifier.
  public var classifier: ClassifierOptions?
  /// The model's metadata.
  public var metadata = MetadataOptions()
  /// The names of the inputs and outputs that `inputNames` and `outputNames` replace.
  package var replacedNames: [[String]] = [[], []]
  /// Which layers become custom layers.
  public var customLayers = CustomLayerRules()
  /// Whether Keras Lambdas are converted if their code can be read; the code is never run.
  public var readsFormulas = true
  /// Python files that define a Keras model's custom layers; they are interpreted, never run.
  public var layerSources: [String] = []
  /// The output shapes of a custom layer for given input shapes; nil if its class is unknown.
  package var customLayerShapes: CustomLayerShapes = { _, _ in nil }
  /// The state that determines which layers of a Caffe network are included.
  public var networkState = NetworkState()
  /// Whether trainable layers become updatable.
  public var respectTrainable = false
  /// The latest specification version that the model may require; layers of later versions are
  /// replaced if possible. Nil allows any version.
  public var maximumVersion: Int?
  /// Whether a GRU may apply its reset gate after the product: in ML Programs and in ONNX.
  package var resetsAfter = false
  /// Replacement weights for an architecture without weights; nil makes that an error.
  public var missingWeights: MissingWeights?
  /// Whether to continue past layers that cannot be converted, as if they returned their input:
  /// only the plan matters, and no weights are read.
  package var isPlan = false
  /// Receives a line for every converted layer, such as `0 : input_1, InputLayer`.
  public var onVisit: (@Sendable (String) -> Void)?

  /// Creates options that add nothing to the source network.
  public init() {}
}

/// Returns the output shapes of a custom layer for its input shapes, both in Core ML's layout; nil
/// if the class is unknown.
package typealias CustomLayerShapes = @Sendable (Custom, [[Int]]) throws -> [[Int]]?

/// A value for all features, overridden by name.
public struct PerFeature<Value: Sendable>: Sendable {
  /// The value for features without a named value.
  public var all: Value?
  /// Values by feature name.
  public var named: [String: Value] = [:]

  /// Creates a value for all features, overridden by name.
  public init(_ all: Value? = nil, named: [String: Value] = [:]) {
    self.all = all
    self.named = named
  }

  /// The value of a feature.
  public subscript(name: String) -> Value? { named[name] ?? all }
  /// Whether there is no value at all.
  public var isEmpty: Bool { all == nil && named.isEmpty }
}

/// y = (scale · x + bias − mean) / std, with one bias, mean and std per color.
public struct ImagePreprocessing: Sendable {
  /// The order of the colors in the network.
  public var color = PerFeature<ImageFeatureType.ColorSpace>()
  /// The scale factor of all samples.
  public var scale = PerFeature<Double>()
  /// Added to scaled red samples.
  public var redBias = PerFeature<Double>()
  /// Added to scaled green samples.
  public var greenBias = PerFeature<Double>()
  /// Added to scaled blue samples.
  public var blueBias = PerFeature<Double>()
  /// Added to scaled gray samples.
  public var grayBias = PerFeature<Double>()
  /// Red, green, blue; or one value for gray.
  public var mean = PerFeature<[Double]>()
  /// Standard deviations of red, green, blue; or one value for gray.
  public var std = PerFeature<[Double]>()
  /// A model zoo's preprocessing, for every image.
  public var preset: PreprocessingPreset?
  /// y = x − mean with one value per element, instead of scale, biases, means and deviations.
  package var meanImage = PerFeature<MeanImage>()

  /// Creates preprocessing that leaves samples unchanged.
  public init() {}

  /// Whether any option except the color order sets an input's preprocessing.
  public func isPrepared(_ name: String) -> Bool { scalesOrShifts(name) || meanImage[name] != nil }

  func scalesOrShifts(_ name: String) -> Bool {
    preset != nil || scale[name] != nil || redBias[name] != nil || greenBias[name] != nil
      || blueBias[name] != nil || grayBias[name] != nil || mean[name] != nil || std[name] != nil
  }
}

/// The usual preprocessing of a model zoo.
public enum PreprocessingPreset: String, Sendable, CaseIterable {
  /// x / 127.5 − 1
  case kerasTF = "keras-tf"
  /// BGR, minus the means 103.939, 116.779, 123.68
  case kerasCaffe = "keras-caffe"
  /// (x / 255 − mean) / std with ImageNet's means and deviations
  case kerasTorch = "keras-torch"
  /// BGR, minus the means 103.939, 116.779, 123.68
  case caffe = "caffe"
}

/// Options that turn a network into a classifier.
public struct ClassifierOptions: Sendable {
  package var labels: NeuralNetworkClassifier.ClassLabels
  /// The name of the output with the best label.
  public var predictedFeatureName = "classLabel"
  /// The name of the output or inner blob with the probabilities; nil means the first output.
  public var probabilitiesOutput: String?

  package init(labels: NeuralNetworkClassifier.ClassLabels) { self.labels = labels }
}

/// Metadata of a converted model.
public struct MetadataOptions: Sendable {
  /// The author of the model.
  public var author = ""
  /// The license of the model.
  public var license = ""
  /// What the model does.
  public var shortDescription = ""
  /// The version of the model, set by its author.
  public var versionString = ""
  /// Custom entries.
  public var userDefined: [String: String] = [:]
  /// Descriptions of inputs and outputs, by name.
  public var descriptions: [String: String] = [:]

  /// Creates empty metadata.
  public init() {}
}
