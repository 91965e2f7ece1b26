/// Layers, preprocessing and input mappings, common to all kinds of neural networks.
package struct NeuralNetwork: SpecificationMessage {
  package enum ArrayInputShapeMapping: Int, Sendable, CaseIterable {
    case rank5 = 0
    case exact = 1
  }

  package enum ImageInputShapeMapping: Int, Sendable, CaseIterable {
    case rank5 = 0
    case rank4 = 1
  }

  package var layers: [NeuralNetworkLayer] = []
  package var preprocessing: [NeuralNetworkPreprocessing] = []
  package var arrayInputShapeMapping = ArrayInputShapeMapping.rank5
  package var imageInputShapeMapping = ImageInputShapeMapping.rank5
  /// Training parameters, carried through.
  package var updateParams: OpaqueMessage?
  package var unknownFields = UnknownFields()

  package init() {}

  package static let fields: Fields = [
    .messages("layers", \.layers),
    .messages("preprocessing", \.preprocessing),
    .value("arrayInputShapeMapping", \.arrayInputShapeMapping),
    .value("imageInputShapeMapping", \.imageInputShapeMapping),
    .opaque("updateParams", \.updateParams),
  ]
}

package struct NeuralNetworkClassifier: SpecificationMessage {
  package enum ClassLabels: Sendable, Equatable {
    case string([String])
    case int64([Int])
  }

  package var network = NeuralNetwork()
  package var classLabels: ClassLabels?
  /// The blob with the probabilities; empty means the last layer's output.
  package var labelProbabilityLayerName = ""

  /// The blob with the probabilities; nil for a network without layers.
  package var probabilitiesBlob: String? {
    let named = labelProbabilityLayerName
    guard !named.isEmpty else { return network.layers.last?.output.first }
    // The field's name says "layer", but converters write the blob's name.
    if network.layers.contains(where: { $0.output.contains(named) }) { return named }
    return network.layers.last { $0.name == named }?.output.first ?? named
  }

  package init() {}

  /// - Parameter probabilities: the blob with the probabilities.
  package init(_ network: NeuralNetwork, _ labels: ClassLabels, probabilities: String) {
    (self.network, classLabels, labelProbabilityLayerName) = (network, labels, probabilities)
  }

  package var unknownFields: UnknownFields {
    get { network.unknownFields }
    set { network.unknownFields = newValue }
  }

  package static let fields: [Field<Self>] =
    NeuralNetwork.fields.map { $0.lifted(to: \.network) } + [
      .classLabels(\.classLabels),
      .string("labelProbabilityLayerName", \.labelProbabilityLayerName),
    ]
}

package struct NeuralNetworkRegressor: SpecificationMessage {
  package var network = NeuralNetwork()

  package init() {}

  package var unknownFields: UnknownFields {
    get { network.unknownFields }
    set { network.unknownFields = newValue }
  }

  package static let fields: Fields = NeuralNetwork.fields.map { $0.lifted(to: \.network) }
}

extension Model {
  /// The neural network in the model, whichever kind it is; nil for other models.
  package var neuralNetwork: NeuralNetwork? {
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
        type = .neuralNetworkRegressor(NeuralNetworkRegressor().with(\.network, newValue))
      default: type = .neuralNetwork(newValue)
      }
    }
  }

  package var isMLProgram: Bool { if case .mlProgram? = type { true } else { false } }

  /// The labels of a classifier, or of the last classifier in a pipeline.
  package var classLabels: NeuralNetworkClassifier.ClassLabels? {
    switch type {
    case .neuralNetworkClassifier(let classifier): classifier.classLabels
    case .features(let model): model.parameters.classLabels
    case .pipelineClassifier(let pipeline):
      pipeline.models.reversed().firstValue(\.classLabels)
    default: nil
    }
  }
}

extension Sequence {
  /// The first value that is not nil. Unlike a lazy map's `first`, it evaluates each element once,
  /// so nested models take linear time.
  package func firstValue<Value>(_ value: (Element) throws -> Value?) rethrows -> Value? {
    for element in self { if let found = try value(element) { return found } }
    return nil
  }
}

extension Dictionary {
  /// The first value for each key.
  package init(first pairs: some Sequence<(Key, Value)>) {
    self.init(pairs, uniquingKeysWith: { first, _ in first })
  }
}
