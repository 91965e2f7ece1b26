import CoreMLModel
import TensorCore

extension Batchnorm: ReferenceFormula {
  func referenceOutputs(_ inputs: [ReferenceTensor]) throws -> [ReferenceTensor] {
    let input = inputs[0]
    let factors = try gamma.values([channels], "gamma")
    let offsets = try beta.values([channels], "beta")
    let means = computeMeanVar ? [] : try mean.values([channels], "mean")
    let variances = computeMeanVar ? [] : try variance.values([channels], "variance")
    let stabilizer = Double(effectiveEpsilon)
    // For each item and channel, or for each channel over all items.
    var computed: [Moments] = []
    if computeMeanVar {
      let items = input.sequence * input.batch
      for item in 0..<items {
        for channel in 0..<channels {
          let from = instanceNormalization ? item..<item + 1 : 0..<items
          computed.append(Moments(of: from.flatMap { input.plane(item: $0, channel: channel) }))
        }
      }
    }
    return try planeOutput(inputs) { p in
      let moments =
        computeMeanVar
        ? computed[(p.sequence * input.batch + p.batch) * channels + p.channel]
        : Moments(mean: Double(means[p.channel]), variance: Double(variances[p.channel]))
      return Double(factors[p.channel]) * (input[p] - moments.mean)
        / (moments.variance + stabilizer).squareRoot() + Double(offsets[p.channel])
    }
  }
}

/// Mean and population variance.
struct Moments {
  var mean: Double
  var variance: Double

  init(mean: Double, variance: Double) {
    self.mean = mean
    self.variance = variance
  }

  init(of values: some Collection<Double>) {
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    self.mean = mean
    variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
  }
}

extension ReferenceTensor {
  /// The H·W values of one channel of one item.
  func plane(item: Int, channel: Int) -> ArraySlice<Double> {
    let start = (item * channels + channel) * height * width
    return elements[start..<start + height * width]
  }

  /// The C·H·W values of one item.
  func item(_ index: Int) -> ArraySlice<Double> {
    let size = channels * height * width
    return elements[index * size..<(index + 1) * size]
  }
}
