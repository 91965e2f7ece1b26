import CoreMLModel
import TensorCore
import TestSupport

extension Activation: TestedLayer {
  static func trials(_ random: inout SplitMix64) -> [LayerTrial] {
    let shapes = [[1, 1, 1, 1, 1], [1, 1, 7, 5, 9], [2, 3, 16, 2, 3], [1, 2, 33, 1, 1]]
    return shapes.flatMap { shape in
      let functions: [Function] = [
        .linear(alpha: 0.5, beta: -2), .relu, .leakyReLU(alpha: 0.3), .leakyReLU(alpha: -0.3),
        .thresholdedReLU(alpha: 0.75), .thresholdedReLU(alpha: -0.75), .tanh,
        .scaledTanh(alpha: 1.7159, beta: 0.6666667), .sigmoid, .sigmoidHard(alpha: 0.2, beta: 0.5),
        .elu(alpha: 1.6732632), .softsign, .softplus, .prelu(alpha: random.weights(shape[2])),
        .prelu(alpha: random.weights(1)),
        .parametricSoftplus(alpha: random.weights(shape[2]), beta: random.weights(shape[2])),
      ]
      return functions.flatMap { function in
        [-2...2, -100...100].map { range in
          LayerTrial(
            "\("\(function)".prefix(20)) of \(shape) in \(range)", Activation(function), [shape],
            range: range)
        }
      }
    }
  }
}
