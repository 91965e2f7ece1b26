extension KNearestNeighborsClassifier: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let labels = classLabels?.keys ?? []
    let sampleKeys = sampleLabels?.keys ?? []
    let samples = index?.samples ?? []
    let vector = try inputs.vector(count: index?.dimensions ?? 0)
    guard !samples.isEmpty else {
      let key: FeatureKey? =
        switch defaultLabel {
        case .string(let text)?: .string(text)
        case .int64(let number)?: .int(number)
        case nil: nil
        }
      return inputs.classification(labels.map { $0 == key ? 1 : 0 }, of: labels)
    }
    let distances = samples.map { sample in
      zip(sample, vector).reduce(0) {
        let difference = Double($1.0) - $1.1
        return $0 + difference * difference
      }
    }
    let count = min(neighbors?.defaultValue ?? 1, samples.count)
    let nearest = samples.indices.sorted {
      (distances[$0], $0) < (distances[$1], $1)
    }.prefix(count)
    var weights: [FeatureKey: Double] = [:]
    let exact = nearest.contains { distances[$0] == 0 }
    for position in nearest {
      let weight: Double
      switch weighting {
      case .inverseDistance?:
        // A sample at distance 0 outweighs all others.
        weight = exact ? (distances[position] == 0 ? 1 : 0) : 1 / distances[position].squareRoot()
      default: weight = 1
      }
      weights[sampleKeys[position], default: 0] += weight
    }
    let sum = weights.values.reduce(0, +)
    return inputs.classification(labels.map { (weights[$0] ?? 0) / sum }, of: labels)
  }
}
