import Interpretation
import LibC
import TensorCore

extension CaffeOperations {
  static let normalizations: [String: CaffeOperation] = [
    "LRN": .one(localResponse),
    "MVN": .one(meanVariance),
    "Normalize": .one(normalize),
    "BatchNorm": .one(batchNorm),
    "BN": .one(segnetNorm), "SyncBN": .one(segnetNorm), "BatchNormalization": .one(segnetNorm),
    "Scale": .one(bottoms: 1...2, scale),
    "Bias": .one(bottoms: 1...2, bias),
  ]

  /// lrn_layer.cpp: x · (k + α / n · Σ x²)^−β over n channels, or x · (1 + α · mean(x²))^−β over n
  /// × n positions, including the padding.
  private static func localResponse(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("lrn_param")
    let size = try settings.size("local_size")
    let (alpha, beta) = (try settings.number("alpha"), try settings.number("beta"))
    let (items, channels, height, width) = try layer.imageShape()
    let half = (size - 1) / 2
    let squares = layer.input.map { $0 * $0 }
    var result = layer.input
    if try settings.symbol("norm_region") == "WITHIN_CHANNEL" {
      let windows = PoolingWindows(
        method: "AVE", kernel: [size, size], stride: [1, 1], pad: [half, half], isFloor: false)
      let means = try windows.pooled(squares, layer).values
      try layer.require(means.count == result.count, "local_size \(size) is even")
      for index in result.values.indices {
        result.values[index] *= pow(1 + alpha * means.values[index], -beta)
      }
      return result
    }
    let k = try settings.number("k")
    let plane = height * width
    for item in 0..<items {
      for channel in 0..<channels {
        let first = max(0, channel - half)
        let last = min(channels - 1, channel - half + size - 1)
        for position in 0..<plane {
          var sum = 0.0
          for other in first...max(first, last) {
            sum += squares.values[(item * channels + other) * plane + position]
          }
          result.values[(item * channels + channel) * plane + position] *=
            pow(k + alpha / Double(size) * sum, -beta)
        }
      }
    }
    return result
  }

  /// mvn_layer.cpp: (x − mean) / (standard deviation + eps)
  private static func meanVariance(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("mvn_param")
    var result = layer.input
    let start = try settings.bool("across_channels") ? 1 : 2
    try layer.require(result.rank >= start, "its bottom has \(result.rank) axes")
    let isScaled = try settings.bool("normalize_variance")
    let eps = try settings.number("eps")
    let length = result.count(start..<result.rank)
    for block in 0..<result.count(0..<start) where length > 0 {
      let range = block * length..<(block + 1) * length
      let mean = result.values[range].reduce(0, +) / Double(length)
      for index in range { result.values[index] -= mean }
      guard isScaled else { continue }
      let variance = result.values[range].reduce(0) { $0 + $1 * $1 } / Double(length)
      for index in range { result.values[index] /= variance.squareRoot() + eps }
    }
    return result
  }

  /// normalize_layer.cpp of weiliu89/caffe, branch ssd: x / √(Σ x² + eps) · factor, with the sum
  /// over the image, or over the channels at each position.
  private static func normalize(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("norm_param")
    let (items, channels, height, width) = try layer.imageShape()
    let isShared = try settings.bool("channel_shared", default: true)
    let factors = try layer.weight(0, shape: [isShared ? 1 : channels]).values
    let eps = try settings.number("eps", default: 1e-10)
    let isAcross = try settings.bool("across_spatial", default: true)
    let plane = height * width
    var result = layer.input
    for item in 0..<items {
      var sums = [Double](repeating: eps, count: isAcross ? 1 : plane)
      for index in 0..<channels * plane {
        let value = layer.input.values[item * channels * plane + index]
        sums[isAcross ? 0 : index % plane] += value * value
      }
      for index in 0..<channels * plane {
        result.values[item * channels * plane + index] *=
          factors[isShared ? 0 : index / plane] / sums[isAcross ? 0 : index % plane].squareRoot()
      }
    }
    return result
  }

  /// The mean and variance over all axes except the channel axis 1; the variance is the mean of (x
  /// − mean)².
  private static func statistics(
    _ input: DoubleArray, channels: Int, inner: Int
  ) -> (mean: [Double], variance: [Double]) {
    var mean = [Double](repeating: 0, count: channels)
    var variance = mean
    let count = Double(max(1, input.count / max(1, channels)))
    for (index, value) in input.values.enumerated() {
      mean[index / inner % channels] += value / count
    }
    for (index, value) in input.values.enumerated() {
      let difference = value - mean[index / inner % channels]
      variance[index / inner % channels] += difference * difference / count
    }
    return (mean, variance)
  }

  /// batch_norm_layer.cpp: (x − mean) / √(variance + eps), with the stored mean and variance
  /// divided by the third weight. NVIDIA's and Intel's versions also include the factors and shifts
  /// of a Scale layer.
  private static func batchNorm(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("batch_norm_param")
    let input = layer.input
    let channels = input.rank == 1 ? 1 : input.shape[1]
    let inner = input.rank == 1 ? input.count : input.count(2..<input.rank)
    let eps = try settings.number("eps")
    var mean: [Double]
    var variance: [Double]
    if try settings.bool("use_global_stats", default: true) || !settings.has("use_global_stats") {
      let total = try layer.weight(2, shape: [1]).values[0]
      let factor = total == 0 ? 0 : 1 / total
      mean = try layer.weight(0, shape: [channels]).values.map { $0 * factor }
      variance = try layer.weight(1, shape: [channels]).values.map { $0 * factor }
    } else {
      (mean, variance) = statistics(input, channels: channels, inner: inner)
    }
    let isScaled =
      try settings.bool("scale_bias", default: false) || settings.has("scale_filler")
    let count = layer.weights.count
    let factors = isScaled || count > 3 ? try layer.weight(3, shape: [channels]).values : nil
    let shifts = isScaled || count > 4 ? try layer.weight(4, shape: [channels]).values : nil
    var result = input
    for index in result.values.indices {
      let channel = index / inner % channels
      let value = (input.values[index] - mean[channel]) / (variance[channel] + eps).squareRoot()
      result.values[index] = value * (factors?[channel] ?? 1) + (shifts?[channel] ?? 0)
    }
    return result
  }

  /// bn_layer.cpp. With two weights, from alexgkendall/caffe-segnet: factors and shifts; the mode
  /// LEARN first normalizes by the image's own statistics, INFERENCE does not. With four weights,
  /// from hszhao/PSPNet: also mean and variance.
  private static func segnetNorm(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("bn_param")
    let input = layer.input
    try layer.require(input.rank >= 2, "its bottom has \(input.rank) axes")
    let (channels, inner) = (input.shape[1], input.count(2..<input.rank))
    let factors = try layer.weight(0, shape: [channels]).values
    let shifts = try layer.weight(1, shape: [channels]).values
    var mean = [Double](repeating: 0, count: channels)
    var variance = [Double](repeating: 1, count: channels)
    var eps = 0.0
    if layer.weights.count >= 4 {
      eps = try settings.number("eps", default: 1e-5)
      mean = try layer.weight(2, shape: [channels]).values
      variance = try layer.weight(3, shape: [channels]).values
    } else if try settings.symbol("bn_mode", default: "LEARN") != "INFERENCE",
      !settings.has("frozen")
    {
      eps = try settings.number("eps", default: 1e-9)
      (mean, variance) = statistics(input, channels: channels, inner: inner)
    }
    var result = input
    for index in result.values.indices {
      let channel = index / inner % channels
      result.values[index] =
        factors[channel] * (input.values[index] - mean[channel])
        / (variance[channel] + eps).squareRoot() + shifts[channel]
    }
    return result
  }

  /// scale_layer.cpp
  private static func scale(_ layer: LayerRun) throws -> DoubleArray {
    let settings = layer.settings("scale_param")
    let (axis, shape) = try coveredAxes(settings, layer)
    let isTwo = layer.bottoms.count == 2
    let factors = isTwo ? layer.bottoms[1].values : try layer.weight(0, shape: shape).values
    let shifts =
      try settings.bool("bias_term") ? try layer.weight(isTwo ? 0 : 1, shape: shape).values : nil
    return broadcast(layer.input, axis, shape) { $0 * factors[$1] + (shifts?[$1] ?? 0) }
  }

  /// bias_layer.cpp
  private static func bias(_ layer: LayerRun) throws -> DoubleArray {
    let (axis, shape) = try coveredAxes(layer.settings("bias_param"), layer)
    let shifts =
      layer.bottoms.count == 2 ? layer.bottoms[1].values : try layer.weight(0, shape: shape).values
    return broadcast(layer.input, axis, shape) { $0 + shifts[$1] }
  }

  /// The axes of the first bottom along which factors vary: as many as the second bottom has, or
  /// `num_axes` without one, from `axis` on. Returns the first axis and the shape.
  private static func coveredAxes(
    _ settings: CaffeSettings, _ layer: LayerRun
  ) throws -> (axis: Int, shape: [Int]) {
    let input = layer.input
    let index = try settings.int("axis")
    if layer.bottoms.count == 2 {
      let shape = layer.bottoms[1].shape
      let axis = shape.isEmpty ? 0 : try layer.axis(index, of: input)
      try layer.require(
        axis + shape.count <= input.rank && Array(input.shape[axis..<axis + shape.count]) == shape,
        "its bottoms have the shapes \(input.shape) and \(shape)")
      return (axis, shape)
    }
    let count = try settings.int("num_axes")
    if count == 0 { return (0, []) }
    let axis = try layer.axis(index, of: input)
    let end = count == -1 ? input.rank : axis + count
    try layer.require(end >= axis && end <= input.rank, "num_axes is \(count)")
    return (axis, Array(input.shape[axis..<end]))
  }

  /// A function of each element and the index of its factor.
  private static func broadcast(
    _ input: DoubleArray, _ axis: Int, _ shape: [Int], _ function: (Double, Int) -> Double
  ) -> DoubleArray {
    var result = input
    let count = shape.reduce(1, *)
    let inner = input.count(axis + shape.count..<input.rank)
    for index in result.values.indices {
      result.values[index] = function(input.values[index], index / inner % count)
    }
    return result
  }
}
