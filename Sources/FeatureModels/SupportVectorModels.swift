import LibC

/// The values of the kernel for each support vector and `x`.
private struct KernelValues {
  let values: [Double]

  init(_ kernel: SupportVectorKernel?, _ vectors: SupportVectors?, _ x: [Double]) throws {
    guard let kernel, let vectors else { throw ModelError(.malformed, "the kernel is missing") }
    let dense: [[Double]]
    switch vectors {
    case .dense(let rows): dense = rows
    case .sparse(let rows):
      dense = try rows.map { row in
        var vector = [Double](repeating: 0, count: x.count)
        for element in row {
          try require(
            x.indices.contains(element.index - 1), .mismatch,
            "a support vector has the index \(element.index), but the inputs have \(x.count) numbers"
          )
          vector[element.index - 1] = element.value
        }
        return vector
      }
    }
    try require(
      dense.allSatisfy { $0.count == x.count }, .mismatch,
      "the support vectors have \(dense.first?.count ?? 0) numbers, but the inputs \(x.count)")
    values = dense.map { kernel.value($0, x) }
  }
}

extension SupportVectorKernel {
  fileprivate func value(_ a: [Double], _ b: [Double]) -> Double {
    var product: Double { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
    switch self {
    case .linear: return product
    case .radialBasis(let gamma):
      return exp(-gamma * zip(a, b).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) })
    case .polynomial(let degree, let c, let gamma):
      return pow(gamma * product + c, Double(degree))
    case .sigmoid(let gamma, let c): return tanh(gamma * product + c)
    }
  }
}

extension SupportVectorRegressor: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let values = try KernelValues(kernel?.kernel, vectors, inputs.vector()).values
    return inputs.regression([zip(coefficients, values).reduce(-rho) { $0 + $1.0 * $1.1 }])
  }
}

extension SupportVectorClassifier: DirectFeatureModel {
  func run(_ inputs: FeatureInputs) throws -> [String: FeatureValue] {
    let values = try KernelValues(kernel?.kernel, vectors, inputs.vector()).values
    let labels = classLabels?.keys ?? []
    let count = vectorsPerClass.count
    var starts = [0]
    for size in vectorsPerClass { starts.append(starts[starts.count - 1] + size) }
    var votes = [Double](repeating: 0, count: count)
    var pairs = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    var pair = 0
    for first in 0..<count {
      for second in (first + 1)..<max(count, first + 1) {
        var decision = -rho[pair]
        for position in starts[first]..<starts[first + 1] {
          decision += coefficients[second - 1][position] * values[position]
        }
        for position in starts[second]..<starts[second + 1] {
          decision += coefficients[first][position] * values[position]
        }
        votes[decision > 0 ? first : second] += 1
        if !probA.isEmpty {
          let probability = LinkFunction.logistic(-(probA[pair] * decision + probB[pair]))
          // As in libsvm, NaN becomes the smallest probability.
          pairs[first][second] = probability > 1e-7 ? min(probability, 1 - 1e-7) : 1e-7
          pairs[second][first] = 1 - pairs[first][second]
        }
        pair += 1
      }
    }
    if probA.isEmpty {
      let sum = votes.reduce(0, +)
      return inputs.classification(votes.map { $0 / sum }, of: labels)
    }
    return inputs.classification(PairwiseProbabilities.coupled(pairs), of: labels)
  }
}

/// Probabilities of several classes from those of each pair.
///
/// Wu, Lin, Weng: "Probability estimates for multi-class classification by pairwise coupling",
/// algorithm 2: the probabilities `p` that minimize `Σ (r[j][i] p[i] − r[i][j] p[j])²`.
enum PairwiseProbabilities {
  /// - Parameter pairs: the probability of the row's class in its pair with the column's class.
  static func coupled(_ pairs: [[Double]]) -> [Double] {
    let count = pairs.count
    if count == 2 { return [pairs[0][1], pairs[1][0]] }
    var matrix = pairs
    for row in 0..<count {
      matrix[row][row] = 0
      for other in 0..<count where other != row {
        matrix[row][row] += pairs[other][row] * pairs[other][row]
        matrix[row][other] = -pairs[other][row] * pairs[row][other]
      }
    }
    var result = [Double](repeating: 1 / Double(count), count: count)
    for _ in 0..<max(100, count) {
      var products = matrix.map { row in zip(row, result).reduce(0) { $0 + $1.0 * $1.1 } }
      var total = zip(result, products).reduce(0) { $0 + $1.0 * $1.1 }
      if (products.map { abs($0 - total) }.max() ?? 0) < 0.005 / Double(count) { break }
      for step in 0..<count {
        let change = (total - products[step]) / matrix[step][step]
        result[step] += change
        total =
          (total + change * (change * matrix[step][step] + 2 * products[step]))
          / ((1 + change) * (1 + change))
        for index in 0..<count {
          products[index] = (products[index] + change * matrix[step][index]) / (1 + change)
          result[index] /= 1 + change
        }
      }
    }
    return result
  }
}
