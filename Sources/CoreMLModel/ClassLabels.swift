extension NeuralNetworkClassifier.ClassLabels {
  package var count: Int {
    switch self {
    case .string(let labels): labels.count
    case .int64(let labels): labels.count
    }
  }
}
