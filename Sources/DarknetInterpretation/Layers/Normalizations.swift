import Interpretation
import LibC
import TensorCore

extension DarknetOperations {
  static let normalizations: [String: DarknetOperation] = [
    "batchnorm": { maker, plan in
      // load_batchnorm_weights; Redmon's version omits the biases.
      let channels = maker.input[0]
      let biases =
        plan.storesBatchnormBiases
        ? try plan.weights.numbers(channels) : [Double](repeating: 0, count: channels)
      let affine = try ChannelAffine(normalizing: channels, biases: biases, &plan)
      return try maker.made(maker.input) { call in
        var result = call.input
        affine.apply(to: &result)
        return result
      }
    },
    "normalization": localResponse, "lrn": localResponse,
    "l2norm": { maker, _ in
      // l2normalize_cpu: the norm is over the channels at each position.
      let (channels, area) = (maker.input[0], maker.input[1] * maker.input[2])
      return try maker.made(maker.input) { call in
        var result = call.input
        for position in 0..<area {
          let line = (0..<channels).map { $0 * area + position }
          let length = line.reduce(0) { $0 + result.values[$1] * result.values[$1] }.squareRoot()
          for index in line { result.values[index] /= length }
        }
        return result
      }
    },
    "softmax": softmax, "soft": softmax,
  ]

  /// normalization_layer.c: a running sum of squares along the channels, as in the source; the
  /// first sum has size / 2 terms.
  private static let localResponse: DarknetOperation = { maker, _ in
    let size = try maker.size("size", 5)
    let (alpha, beta) = (try maker.number("alpha", 0.0001), try maker.number("beta", 0.75))
    let kappa = try maker.number("kappa", 1)
    let (channels, area) = (maker.input[0], maker.input[1] * maker.input[2])
    try maker.require(size / 2 <= channels, "a size of \(size) of \(channels) channels")
    return try maker.made(maker.input) { call in
      var result = call.input
      for position in 0..<area {
        func square(_ channel: Int) -> Double {
          let value = call.input.values[channel * area + position]
          return value * value
        }
        var norm = (0..<size / 2).reduce(kappa) { $0 + alpha * square($1) }
        for channel in 0..<channels {
          if channel > 0 {
            let (before, behind) = (channel - (size - 1) / 2 - 1, channel + size / 2)
            if before >= 0 { norm -= alpha * square(before) }
            if behind < channels { norm += alpha * square(behind) }
          }
          result.values[channel * area + position] *= pow(norm, -beta)
        }
      }
      return result
    }
  }

  /// softmax_layer.c
  private static let softmax: DarknetOperation = { maker, plan in
    let groups = try maker.size("groups", 1)
    let temperature = try maker.number("temperature", 1)
    let count = maker.count
    if try maker.number("spatial", 0) != 0 {
      let (channels, area) = (maker.input[0], maker.input[1] * maker.input[2])
      return try maker.made(maker.input) { call in
        var result = call.input
        for position in 0..<area {
          share(&result.values, (0..<channels).map { $0 * area + position }, temperature)
        }
        return result
      }
    }
    var sizes: [Int]
    if let name = maker.section.string("tree") {
      let tree = try plan.trees[name].orThrow(
        ModelError(.unsupported, "the file '\(name)' does not exist"))
      sizes = tree
    } else {
      try maker.require(count % groups == 0, "\(groups) groups of \(count) numbers")
      sizes = [Int](repeating: count / groups, count: groups)
    }
    try maker.require(sizes.reduce(0, +) == count, "groups of \(sizes) in \(count) numbers")
    return try maker.made([count, 1, 1]) { call in
      var values = call.input.values
      var start = 0
      for size in sizes {
        share(&values, Array(start..<start + size), temperature)
        start += size
      }
      return DoubleArray(shape: [count, 1, 1], values)
    }
  }

  /// Softmax over some positions.
  private static func share(_ values: inout [Double], _ positions: [Int], _ temperature: Double) {
    let largest = positions.map { values[$0] }.max() ?? 0
    var sum = 0.0
    for position in positions {
      values[position] = exp((values[position] - largest) / temperature)
      sum += values[position]
    }
    for position in positions { values[position] /= sum }
  }
}
