extension GLMRegressor: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    inputs.regression(
      try margins(weights, offset, inputs).map {
        switch transform {
        case .none: $0
        case .logit: LinkFunction.logistic($0)
        case .probit: LinkFunction.probit($0)
        }
      })
  }
}

extension GLMClassifier: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let labels = classLabels?.keys ?? []
    let margins = try margins(weights, offset, inputs)
    if labels.count == 2, margins.count == 1 {
      let second =
        transform == .logit ? LinkFunction.logistic(margins[0]) : LinkFunction.probit(margins[0])
      return inputs.classification([1 - second, second], of: labels)
    }
    guard encoding == .oneVsRest else {
      return inputs.classification(LinkFunction.softmax([0] + margins), of: labels)
    }
    let probabilities = margins.map(LinkFunction.logistic)
    let sum = probabilities.reduce(0, +)
    return inputs.classification(probabilities.map { $0 / sum }, of: labels)
  }
}

/// `weights · x + offset` for each row.
private func margins(
  _ weights: [[Double]], _ offset: [Double], _ inputs: FeatureInputs
) throws -> [Double] {
  let vector = try inputs.vector(count: weights.first?.count ?? 0)
  return zip(weights, offset).map { row, offset in
    zip(row, vector).reduce(offset) { $0 + $1.0 * $1.1 }
  }
}
