import CoreMLModel

/// What the user asks of a conversion, whichever framework the model comes from. Features are
/// named by their new names, where `inputNames` or `outputNames` rename them.
public struct ConversionOptions: Sendable {
  /// New names, in the model's order; fewer than there are rename the first ones.
  public var inputNames: [String] = []
  /// The same for outputs.
  public var outputNames: [String] = []
  /// Sizes in the source framework's layout, batch first; nil leaves one as the model has it.
  public var inputShapes: [String: [Int?]] = [:]
  /// The elements of the model's arrays.
  public var arrayType = ArrayFeatureType.DataType.double
  /// Inputs that take images.
  public var imageInputs: [String] = []
  /// Outputs that give images.
  public var imageOutputs: [String] = []
  /// What happens to the samples of images.
  public var preprocessing = ImagePreprocessing()
  /// Labels, where the model becomes a classifier.
  public var classifier: ClassifierOptions?
  /// What the model says of itself.
  public var metadata = MetadataOptions()
  /// Which layers become custom layers.
  public var customLayers = CustomLayerRules()
  /// A Keras Lambda whose code can be read becomes what it says; nothing of it is run.
  public var readsFormulas = true
  /// The output shapes of a custom layer for those of its inputs; nil if its class is unknown.
  package var customLayerShapes: CustomLayerShapes = { _, _ in nil }
  /// Which layers of a Caffe network are there.
  public var networkState = NetworkState()
  /// Trainable layers become updatable.
  public var respectTrainable = false
  /// The latest version of the specification that the model may need: layers of later ones become
  /// earlier ones where they can. Nil: any.
  public var maximumVersion: Int?
  /// Weights for an architecture that comes without; nil makes that an error.
  public var missingWeights: MissingWeights?
  /// Go on past layers that cannot be converted, as if they gave what they get: what counts is the
  /// plan, and no weights are read.
  package var isPlan = false
  /// Receives a line for every layer as it is visited, such as `0 : input_1, InputLayer`.
  public var onVisit: (@Sendable (String) -> Void)?

  /// A conversion that adds nothing to the source network.
  public init() {}
}

/// The output shapes that the class of a custom layer gives for the shapes of its inputs, both Core
/// ML's; nil if nobody provides the class.
package typealias CustomLayerShapes = @Sendable (Custom, [[Int]]) throws -> [[Int]]?

/// A value for all features, and others for some of them.
public struct PerFeature<Value: Sendable>: Sendable {
  /// For every feature that is not named.
  public var all: Value?
  /// By the feature's name.
  public var named: [String: Value] = [:]

  /// A value for all features, and others by name.
  public init(_ all: Value? = nil, named: [String: Value] = [:]) {
    self.all = all
    self.named = named
  }

  /// The value of a feature.
  public subscript(name: String) -> Value? { named[name] ?? all }
  /// Whether there is no value at all.
  public var isEmpty: Bool { all == nil && named.isEmpty }
}

/// y = (scale · x + bias − mean) / std, bias and mean one a color.
public struct ImagePreprocessing: Sendable {
  /// The order of the colors in the network.
  public var color = PerFeature<ImageFeatureType.ColorSpace>()
  /// The factor of every sample.
  public var scale = PerFeature<Double>()
  /// What is added to scaled red samples.
  public var redBias = PerFeature<Double>()
  /// What is added to scaled green samples.
  public var greenBias = PerFeature<Double>()
  /// What is added to scaled blue samples.
  public var blueBias = PerFeature<Double>()
  /// What is added to scaled gray samples.
  public var grayBias = PerFeature<Double>()
  /// Red, green, blue; or one value for gray.
  public var mean = PerFeature<[Double]>()
  /// Likewise.
  public var std = PerFeature<[Double]>()
  /// A model zoo's preprocessing, of every image.
  public var preset: PreprocessingPreset?
  /// y = x − mean, a value for each element, in place of scale, biases, means and deviations.
  package var meanImage = PerFeature<MeanImage>()

  /// Samples as they are.
  public init() {}

  /// Whether anything says how the image of an input is prepared, its colors apart.
  public func isPrepared(_ name: String) -> Bool {
    scalesOrShifts(name) || meanImage[name] != nil
  }

  func scalesOrShifts(_ name: String) -> Bool {
    preset != nil || scale[name] != nil || redBias[name] != nil || greenBias[name] != nil
      || blueBias[name] != nil || grayBias[name] != nil || mean[name] != nil || std[name] != nil
  }
}

/// The usual preprocessing of a model zoo.
public enum PreprocessingPreset: String, Sendable, CaseIterable {
  /// x / 127.5 − 1
  case kerasTF = "keras-tf"
  /// BGR, less the means 103.939, 116.779, 123.68
  case kerasCaffe = "keras-caffe"
  /// (x / 255 − mean) / std with ImageNet's means and deviations
  case kerasTorch = "keras-torch"
  /// BGR, less the means 103.939, 116.779, 123.68
  case caffe = "caffe"
}

/// What makes a network a classifier.
public struct ClassifierOptions: Sendable {
  package var labels: NeuralNetworkClassifier.ClassLabels
  /// The output with the best label.
  public var predictedFeatureName = "classLabel"
  /// The output, or an inner blob, that holds the probabilities; nil means the first output.
  public var probabilitiesOutput: String?

  package init(labels: NeuralNetworkClassifier.ClassLabels) { self.labels = labels }
}

/// What a converted model says of itself.
public struct MetadataOptions: Sendable {
  /// Who made the model.
  public var author = ""
  /// Under which the model may be used.
  public var license = ""
  /// What the model does.
  public var shortDescription = ""
  /// The model's own version.
  public var versionString = ""
  /// Custom entries.
  public var userDefined: [String: String] = [:]
  /// What inputs are, by their names.
  public var inputDescriptions: [String: String] = [:]
  /// What outputs are, by their names.
  public var outputDescriptions: [String: String] = [:]

  /// No entries.
  public init() {}
}
