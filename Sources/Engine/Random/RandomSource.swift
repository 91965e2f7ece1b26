import CoreMLModel
import LibC
import TensorCore

/// Where the random numbers of a layer come from: SplitMix64, started from the seed of the prediction,
/// that of the layer (its position in the network where it has none), and how many runs of loops have
/// begun. They do not depend on the machine, the threads, or earlier predictions.
struct RandomSource: Sendable {
  private var key: UInt64
  private let position: Int

  /// - Parameter position: the number of the layer, those inside others counted.
  init(seed: UInt64, position: Int) {
    key = Self.mixed(seed)
    self.position = position
  }

  /// The source for a layer's seed, which is negative if it has none.
  func ofLayer(seed: Int) -> RandomSource {
    var source = self
    source.key = Self.mixed(key ^ (seed < 0 ? ~UInt64(position) : UInt64(seed)))
    return source
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var generator = SplitMix64(seed: value)
    return generator.next()
  }

  /// The numbers for loop iteration `round`.
  func numbers(round: Int) -> RandomNumbers {
    RandomNumbers(key: Self.mixed(key ^ UInt64(truncatingIfNeeded: round)))
  }
}

/// A sequence of random numbers with random access.
struct RandomNumbers: Sendable {
  let key: UInt64

  /// The `index`-th number, uniform on the open interval (0, 1).
  func unit(_ index: Int) -> Double {
    let steps = UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15
    var generator = SplitMix64(seed: key &+ steps)
    return (Double(generator.next() >> 12) + 0.5) * 0x1p-52
  }

  /// The `index`-th number of a distribution.
  func value(_ index: Int, of distribution: RandomDistribution) -> Double {
    let unit = unit(index)
    switch distribution {
    case .normal(let mean, let deviation):
      return Double(mean) + Double(deviation) * NormalQuantile.value(unit)
    case .uniform(let low, let high):
      return Double(low) + unit * (Double(high) - Double(low))
    case .bernoulli(let probability): return unit < Double(probability) ? 1 : 0
    }
  }
}

extension CategoricalDistribution {
  /// The cumulative weights of the classes, for the input's row.
  func cumulativeWeights(_ row: some Collection<Double>) -> [Double] {
    let exponent = 1 / Double(effectiveTemperature)
    let largest = row.max() ?? 0
    var total = 0.0
    return row.map { value in
      total +=
        isLogits
        ? exp((value - largest) * exponent)
        : pow(Swift.max(0, value) + Double(effectiveEps), exponent)
      return total
    }
  }

  /// The class for the fraction `unit` of the total weight.
  static func drawn(_ unit: Double, _ sums: [Double]) -> Int {
    let target = unit * (sums.last ?? 0)
    var (low, high) = (0, sums.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] > target { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
