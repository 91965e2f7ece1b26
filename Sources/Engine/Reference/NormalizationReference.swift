import CoreMLModel
import LibC
import TensorCore

extension MeanVarianceNormalize: ReferenceFormula {
  /// Caffe's formula, (x − mean) / (√variance + ε); the specification has none.
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let stabilizer = Double(effectiveEpsilon)
    var moments: [Moments] = []
    for item in 0..<input.sequence * input.batch {
      for channel in 0..<input.channels {
        moments.append(
          Moments(
            of: acrossChannels ? input.item(item) : input.plane(item: item, channel: channel)))
      }
    }
    return try planeOutput(inputs) { p in
      let m = moments[(p.sequence * input.batch + p.batch) * input.channels + p.channel]
      let centered = input[p] - m.mean
      return normalizeVariance ? centered / (m.variance.squareRoot() + stabilizer) : centered
    }
  }
}

extension L2Normalize: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let stabilizer = Double(effectiveEpsilon)
    let norms = (0..<input.sequence * input.batch).map { item in
      (input.item(item).reduce(0) { $0 + $1 * $1 } + stabilizer).squareRoot()
    }
    return try planeOutput(inputs) { p in
      input[p] / norms[p.sequence * input.batch + p.batch]
    }
  }
}

extension Softmax: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let shape = try outputShape(inputs)
    let input = inputs[0]
    let planeShape = [shape[0], shape[1], 1, shape[3], shape[4]]
    let largest = ReferenceTensor(shape: planeShape) { p in
      (0..<input.channels).reduce(-.infinity) { result, channel in
        max(result, input[p.sequence, p.batch, channel, p.y, p.x])
      }
    }
    let sums = ReferenceTensor(shape: planeShape) { p in
      (0..<input.channels).reduce(0) { sum, channel in
        sum + exp(input[p.sequence, p.batch, channel, p.y, p.x] - largest[p])
      }
    }
    return try planeOutput(inputs) { p in
      exp(input[p] - largest.broadcast(p)) / sums.broadcast(p)
    }
  }
}

extension LRN: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let constant = Double(effectiveK)
    try require(localSize > 0, "\(localSize), a positive size is needed", field: "localSize")
    return try planeOutput(inputs) { p in
      let first = p.channel - (localSize - 1) / 2
      var sum = 0.0
      for channel in max(first, 0)..<min(first + localSize, input.channels) {
        let x = input[p.sequence, p.batch, channel, p.y, p.x]
        sum += x * x
      }
      return input[p] / pow(constant + Double(alpha) / Double(localSize) * sum, Double(beta))
    }
  }
}
