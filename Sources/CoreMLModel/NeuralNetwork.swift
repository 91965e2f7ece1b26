/// Layers, preprocessing and input mappings that every kind of neural network has.
public struct NeuralNetwork: SpecificationMessage {
  public enum ArrayInputShapeMapping: Int, Sendable, CaseIterable {
    case rank5 = 0
    case exact = 1
  }

  public enum ImageInputShapeMapping: Int, Sendable, CaseIterable {
    case rank5 = 0
    case rank4 = 1
  }

  public var layers: [NeuralNetworkLayer] = []
  public var preprocessing: [NeuralNetworkPreprocessing] = []
  public var arrayInputShapeMapping = ArrayInputShapeMapping.rank5
  public var imageInputShapeMapping = ImageInputShapeMapping.rank5
  /// Training parameters, carried through.
  public var updateParams: OpaqueMessage?
  public var unknownFields = UnknownFields()

  public init() {}
}

public struct NeuralNetworkClassifier: SpecificationMessage {
  public enum ClassLabels: Sendable, Equatable {
    case string([String])
    case int64([Int])
  }

  public var network = NeuralNetwork()
  public var classLabels: ClassLabels?
  /// The blob that holds the probabilities; empty means the last layer's output.
  public var labelProbabilityLayerName = ""

  public init() {}

  public var unknownFields: UnknownFields {
    get { network.unknownFields }
    set { network.unknownFields = newValue }
  }
}

public struct NeuralNetworkRegressor: SpecificationMessage {
  public var network = NeuralNetwork()

  public init() {}

  public var unknownFields: UnknownFields {
    get { network.unknownFields }
    set { network.unknownFields = newValue }
  }
}

extension Model {
  /// The neural network inside, whichever kind of model it is; nil for other models.
  public var neuralNetwork: NeuralNetwork? {
    get {
      switch type {
      case .neuralNetwork(let network): network
      case .neuralNetworkClassifier(let classifier): classifier.network
      case .neuralNetworkRegressor(let regressor): regressor.network
      default: nil
      }
    }
    set {
      guard let newValue else { return }
      switch type {
      case .neuralNetworkClassifier(var classifier):
        classifier.network = newValue
        type = .neuralNetworkClassifier(classifier)
      case .neuralNetworkRegressor: 
        var regressor = NeuralNetworkRegressor()
        regressor.network = newValue
        type = .neuralNetworkRegressor(regressor)
      default: type = .neuralNetwork(newValue)
      }
    }
  }

  public var classLabels: NeuralNetworkClassifier.ClassLabels? {
    if case .neuralNetworkClassifier(let classifier) = type { classifier.classLabels } else { nil }
  }
}
