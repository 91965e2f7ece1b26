/// Trees as places of their nodes.
struct TreeComputation: FeatureModelComputation {
  private let nodes: [TreeEnsemble.Node]
  private let children: [(Int, Int)]
  private let roots: [Int]
  private let base: [Double]
  private let featureCount: Int
  private let results: @Sendable (FeatureInputs, [Double]) -> [String: FeatureValue]

  init(
    _ ensemble: TreeEnsemble?,
    _ results: @escaping @Sendable (FeatureInputs, [Double]) -> [String: FeatureValue]
  ) throws {
    let ensemble = ensemble ?? TreeEnsemble()
    nodes = ensemble.nodes
    (roots, children) = try ensemble.roots()
    base =
      ensemble.base.isEmpty
      ? [Double](repeating: 0, count: max(1, ensemble.dimensions)) : ensemble.base
    featureCount = (nodes.filter { $0.behavior != .leaf }.map(\.featureIndex).max() ?? -1) + 1
    self.results = results
  }

  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let vector = try inputs.vector()
    try require(
      vector.count >= featureCount, .mismatch,
      "the trees need \(featureCount) numbers, and the inputs have \(vector.count)")
    var sums = base
    for root in roots {
      var position = root
      while nodes[position].behavior != .leaf {
        let node = nodes[position]
        let isTrue = node.isTrue(for: vector[node.featureIndex])
        position = isTrue ? children[position].0 : children[position].1
      }
      for evaluation in nodes[position].evaluations { sums[evaluation.index] += evaluation.value }
    }
    return results(inputs, sums)
  }
}

extension TreeEnsemble.Node {
  fileprivate func isTrue(for value: Double) -> Bool {
    if value.isNaN { return missingValueTracksTrueChild }
    switch behavior {
    case .lessThanEqual: return value <= featureValue
    case .lessThan: return value < featureValue
    case .greaterThanEqual: return value >= featureValue
    case .greaterThan: return value > featureValue
    case .equal: return value == featureValue
    case .notEqual: return value != featureValue
    case .leaf: return false
    }
  }
}

extension TreeEnsemble.Transform {
  func applied(to values: [Double]) -> [Double] {
    switch self {
    case .none: values
    case .logistic: values.map(LinkFunction.logistic)
    case .softmax: LinkFunction.softmax(values)
    case .softmaxWithZeroClassReference: LinkFunction.softmax([0] + values)
    }
  }
}

extension TreeEnsembleRegressor: RunnableFeatureModel {
  func computation(_ description: ModelDescription) throws -> any FeatureModelComputation {
    let transform = transform
    return try TreeComputation(ensemble) { $0.regression(transform.applied(to: $1)) }
  }
}

extension TreeEnsembleClassifier: RunnableFeatureModel {
  func computation(_ description: ModelDescription) throws -> any FeatureModelComputation {
    let (transform, labels) = (transform, classLabels?.keys ?? [])
    return try TreeComputation(ensemble) { inputs, sums in
      let values = transform.applied(to: sums)
      if labels.count == 2, values.count == 1 {
        return inputs.classification([1 - values[0], values[0]], of: labels)
      }
      // coremltools writes the probabilities of each tree of a forest to its leaves.
      let sum = values.reduce(0, +)
      let isOfForest = transform == .none && sum > 0 && values.allSatisfy { $0 >= 0 }
      return inputs.classification(isOfForest ? values.map { $0 / sum } : values, of: labels)
    }
  }
}
