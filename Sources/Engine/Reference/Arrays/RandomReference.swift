import CoreMLModel
import TensorCore

extension ReferenceSettings {
  /// The random numbers of the layer in progress.
  fileprivate func numbers(_ layerSeed: Int) -> RandomNumbers {
    RandomSource(seed: seed, position: layerIndex).ofLayer(seed: layerSeed).numbers(round: round)
  }
}

/// Each element from its position; the numbers themselves are defined, not approximated.
protocol RandomReference: ReferenceLayer, RandomLayer {}

extension RandomReference {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let numbers = settings.numbers(seed)
    let count = shape.reduce(1, *)
    return [
      ReferenceTensor(
        shape: shape, (0..<count).map { numbers.value($0, of: parameters.distribution) })
    ]
  }
}

extension RandomLike: RandomReference {}
extension RandomStatic: RandomReference {}

extension CategoricalDistribution: ReferenceLayer {
  func referenceOutputs(
    _ inputs: [ReferenceTensor], _ settings: ReferenceSettings
  ) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let numbers = settings.numbers(seed)
    let classes = inputs[0].shape.last ?? 1
    let rows = stride(from: 0, to: inputs[0].elements.count, by: classes).map {
      cumulativeWeights(inputs[0].elements[$0..<$0 + classes])
    }
    let count = shape.reduce(1, *)
    return [
      ReferenceTensor(
        shape: shape,
        (0..<count).map { position in
          let sums = rows[position / numSamples]
          let target = numbers.unit(position) * (sums.last ?? 0)
          return Double(sums.firstIndex { $0 > target } ?? classes - 1)
        })
    ]
  }
}
