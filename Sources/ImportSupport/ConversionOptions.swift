import CoreMLModel

/// What the user asks of a conversion, whichever framework the model comes from. Features are
/// named by their new names, where `inputNames` or `outputNames` rename them.
public struct ConversionOptions: Sendable {
  /// New names, in the model's order; fewer than there are rename the first ones.
  public var inputNames: [String] = []
  public var outputNames: [String] = []
  /// Sizes in the source framework's layout, batch first; nil leaves one as the model has it.
  public var inputShapes: [String: [Int?]] = [:]
  public var arrayType = ArrayFeatureType.DataType.double
  public var imageInputs: [String] = []
  public var imageOutputs: [String] = []
  public var preprocessing = ImagePreprocessing()
  public var classifier: ClassifierOptions?
  public var metadata = MetadataOptions()
  public var customLayers = CustomLayerRules()
  /// A Keras Lambda whose code is a formula becomes what the formula says.
  public var readsFormulas = false
  /// The output shapes of a custom layer for those of its inputs; nil where its class is not known.
  package var customLayerShapes: CustomLayerShapes = { _, _ in nil }
  /// Which layers of a Caffe network are there.
  public var networkState = NetworkState()
  /// Trainable layers become updatable.
  public var respectTrainable = false
  /// Weights for an architecture that comes without; nil makes that an error.
  public var missingWeights: MissingWeights?
  /// Receives a line for every layer as it is visited, such as `0 : input_1, InputLayer`.
  public var onVisit: (@Sendable (String) -> Void)?

  public init() {}
}

/// The output shapes that the class of a custom layer gives for the shapes of its inputs, both Core
/// ML's; nil where nobody provides the class.
package typealias CustomLayerShapes = @Sendable (Custom, [[Int]]) throws -> [[Int]]?

/// A value for all features, and others for some of them.
public struct PerFeature<Value: Sendable>: Sendable {
  public var all: Value?
  public var named: [String: Value] = [:]

  public init(_ all: Value? = nil, named: [String: Value] = [:]) {
    self.all = all
    self.named = named
  }

  public subscript(name: String) -> Value? { named[name] ?? all }
  public var isEmpty: Bool { all == nil && named.isEmpty }
}

/// y = (scale · x + bias − mean) / std, bias and mean one a colour.
public struct ImagePreprocessing: Sendable {
  public var color = PerFeature<ImageFeatureType.ColorSpace>()
  public var scale = PerFeature<Double>()
  public var redBias = PerFeature<Double>()
  public var greenBias = PerFeature<Double>()
  public var blueBias = PerFeature<Double>()
  public var grayBias = PerFeature<Double>()
  /// Red, green, blue; or one value for grey.
  public var mean = PerFeature<[Double]>()
  public var std = PerFeature<[Double]>()
  public var preset: PreprocessingPreset?
  /// y = x − mean, a value for each element, in place of scale, biases, means and deviations.
  package var meanImage = PerFeature<MeanImage>()

  public init() {}

  /// Whether anything says how the picture of an input is prepared, its colours apart.
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

public struct ClassifierOptions: Sendable {
  package var labels: NeuralNetworkClassifier.ClassLabels
  public var predictedFeatureName = "classLabel"
  /// The output, or an inner blob, that holds the probabilities; nil means the first output.
  public var probabilitiesOutput: String?

  package init(labels: NeuralNetworkClassifier.ClassLabels) { self.labels = labels }
}

public struct MetadataOptions: Sendable {
  public var author = ""
  public var license = ""
  public var shortDescription = ""
  public var versionString = ""
  public var userDefined: [String: String] = [:]
  public var inputDescriptions: [String: String] = [:]
  public var outputDescriptions: [String: String] = [:]

  public init() {}
}
