import Interpretation
import TensorCore

extension DarknetOperations {
  static let convolutions: [String: DarknetOperation] = [
    "convolutional": convolutional, "conv": convolutional,
    "deconvolutional": deconvolutional, "deconv": deconvolutional,
    "local": local,
  ]

  /// convolutional_layer.c
  private static let convolutional: DarknetOperation = { maker, plan in
    let filters = try maker.size("filters", 1)
    let size = try maker.size("size", 1)
    let takesSigns = try maker.section.bool("xnor")
    let hasSigns = try takesSigns || maker.section.bool("binary")
    let groups = takesSigns ? 1 : max(1, try maker.int("groups", 1))
    let stride = try maker.size("stride", 1)
    let strides = try ["stride_y", "stride_x"].map { key in
      let own = try maker.int(key, -1)
      return own < 1 ? stride : own
    }
    let dilation = size == 1 ? 1 : try maker.size("dilation", 1)
    let pad = try maker.section.bool("pad") ? size / 2 : try maker.int("padding", 0)
    for key in [
      "antialiasing", "sway", "rotate", "stretch", "stretch_sway", "coordconv",
    ] where try maker.section.bool(key) {
      throw ModelError(.unsupported, "\(key) is not interpreted")
    }
    let channels = maker.input[0]
    try maker.require(
      channels % groups == 0 && filters % groups == 0 && pad >= 0, "\(groups) groups")
    let out = (0..<2).map { axis in
      let room = maker.input[axis + 1] + 2 * pad - size
      return room < 0 ? 0 : room / strides[axis] + 1
    }
    try maker.require(out.allSatisfy { $0 > 0 }, "a window of \(size) in \(maker.input)")
    let shape = [filters, channels / groups, size, size]
    let isNormalized = try maker.section.bool("batch_normalize") || maker.section.bool("cbn")
    let weights: StoredConvolution
    if maker.section["share_index"] != nil {
      let share = try maker.int("share_index", 0)
      let shared = try plan.convolutions[share < 0 ? maker.index + share : share].orThrow(
        ModelError(.malformed, "share_index is \(share)"))
      weights = shared
    } else {
      weights = try StoredConvolution(
        shape, filters, isNormalized: isNormalized,
        isFlipped: try maker.section.bool("flipped"), &plan)
    }
    plan.convolutions[maker.index] = weights
    let windows = Correlation(
      channels: channels, outputs: filters, groups: groups, size: [1] + maker.input[1...],
      out: [1] + out, kernel: [1, size, size], stride: [1] + strides,
      pad: [0, pad * dilation, pad * dilation], dilation: [1, dilation, dilation])
    let activation = try maker.activation("logistic")
    let kernel = hasSigns ? weights.signs(filters) : weights.kernel
    return try maker.made([filters] + out) { call in
      var result = try DoubleArray(shape: [filters] + out)
      windows.add(takesSigns ? call.input.signs : call.input, kernel, to: &result)
      weights.affine.apply(to: &result)
      return try activation(result)
    }
  }

  /// deconvolutional_layer.c
  private static let deconvolutional: DarknetOperation = { maker, plan in
    let filters = try maker.size("filters", 1)
    let size = try maker.size("size", 1)
    let stride = try maker.size("stride", 1)
    let pad = try maker.section.bool("pad") ? size / 2 : try maker.int("padding", 0)
    let out = maker.input[1...].map { ($0 - 1) * stride + size - 2 * pad }
    try maker.require(pad >= 0 && out.allSatisfy { $0 > 0 }, "a padding of \(pad)")
    let weights = try StoredConvolution(
      [maker.input[0], filters, size, size], filters,
      isNormalized: try maker.section.bool("batch_normalize"), isFlipped: false, &plan)
    let windows = Correlation(
      channels: maker.input[0], outputs: filters, groups: 1, size: [1] + maker.input[1...],
      out: [1] + out, kernel: [1, size, size], stride: [1, stride, stride], pad: [0, pad, pad],
      dilation: [1, 1, 1])
    let activation = try maker.activation("logistic")
    return try maker.made([filters] + out) { call in
      var result = try DoubleArray(shape: [filters] + out)
      windows.spread(call.input, weights.kernel, to: &result)
      weights.affine.apply(to: &result)
      return try activation(result)
    }
  }

  /// local_layer.c: a separate kernel for each position.
  private static let local: DarknetOperation = { maker, plan in
    let filters = try maker.size("filters", 1)
    let size = try maker.size("size", 1)
    let stride = try maker.size("stride", 1)
    let pad = try maker.int("pad", 0)
    let (channels, rows, columns) = (maker.input[0], maker.input[1], maker.input[2])
    let out = [rows, columns].map { ($0 - (pad != 0 ? 1 : size)) / stride + 1 }
    try maker.require(
      pad >= 0 && min(rows, columns) >= (pad != 0 ? 1 : size), "a window of \(size)")
    let positions = out[0] * out[1]
    let taps = try checkedProduct([channels, size, size], limit: Limits.dimension)
    let biases = try plan.weights.numbers(
      checkedProduct([filters, positions], limit: Limits.tensorElements))
    let kernel = try plan.weights.take([positions, filters, taps]).array()
    let activation = try maker.activation("logistic")
    return try maker.made([filters] + out) { call in
      var result = DoubleArray(shape: [filters] + out, biases)
      for position in 0..<positions {
        let (top, left) = (position / out[1] * stride - pad, position % out[1] * stride - pad)
        for filter in 0..<filters {
          var sum = 0.0
          for tap in 0..<taps {
            let (y, x) = (top + tap / size % size, left + tap % size)
            guard (0..<rows).contains(y), (0..<columns).contains(x) else { continue }
            let value = call.input.values[(tap / (size * size) * rows + y) * columns + x]
            sum += value * Double(kernel[(position * filters + filter) * taps + tap])
          }
          result.values[filter * positions + position] += sum
        }
      }
      return try activation(result)
    }
  }
}

/// load_convolutional_weights: the biases, the normalization, then the kernel.
struct StoredConvolution {
  let affine: ChannelAffine
  let kernel: [Float]

  init(
    _ shape: [Int], _ filters: Int, isNormalized: Bool, isFlipped: Bool, _ plan: inout DarknetPlan
  ) throws {
    affine = try ChannelAffine(filters, isNormalized: isNormalized, &plan)
    let stored = try plan.weights.take(shape).array()
    guard isFlipped else {
      kernel = stored
      return
    }
    // One row per input, one column per filter.
    let inputs = stored.count / filters
    kernel = (0..<stored.count).map { stored[$0 % inputs * filters + $0 / inputs] }
  }

  /// binarize_weights: each weight becomes ± the mean magnitude of its filter.
  func signs(_ filters: Int) -> [Float] {
    let count = max(1, kernel.count / max(1, filters))
    return stride(from: 0, to: kernel.count, by: count).flatMap { start in
      let filter = kernel[start..<min(kernel.count, start + count)]
      let mean = filter.map(\.magnitude).reduce(0, +) / Float(count)
      return filter.map { $0 > 0 ? mean : -mean }
    }
  }
}

extension DoubleArray {
  /// binarize_cpu
  var signs: DoubleArray { DoubleArray(shape: shape, values.map { $0 > 0 ? 1 : -1 }) }
}

/// The normalization or bias after a product: scale · (x − mean) / √(variance + 10⁻⁵) + bias per
/// channel, or only the bias, as in normalize_kernel of blas_kernels.cu, with which networks are
/// trained, and Bochkovskiy's normalize_cpu; Redmon's normalize_cpu divides by √variance + 10⁻⁶.
struct ChannelAffine {
  let biases: [Double]
  let normalization: (scales: [Double], means: [Double], variances: [Double])?

  init(_ channels: Int, isNormalized: Bool, _ plan: inout DarknetPlan) throws {
    biases = try plan.weights.numbers(channels)
    normalization = isNormalized ? try Self.numbers(channels, &plan) : nil
  }

  init(normalizing channels: Int, biases: [Double], _ plan: inout DarknetPlan) throws {
    self.biases = biases
    normalization = try Self.numbers(channels, &plan)
  }

  init(biases: [Double], numbers: (scales: [Double], means: [Double], variances: [Double])?) {
    self.biases = biases
    normalization = numbers
  }

  static func numbers(
    _ channels: Int, _ plan: inout DarknetPlan
  ) throws -> (scales: [Double], means: [Double], variances: [Double]) {
    (
      try plan.weights.numbers(channels), try plan.weights.numbers(channels),
      try plan.weights.numbers(channels).map { max($0, 0) }
    )
  }

  func apply(to array: inout DoubleArray) {
    let area = array.count(1..<array.rank)
    for index in array.values.indices {
      let channel = index / area
      var value = array.values[index]
      if let (scales, means, variances) = normalization {
        value =
          scales[channel] * (value - means[channel]) / (variances[channel] + 1e-5).squareRoot()
      }
      array.values[index] = value + biases[channel]
    }
  }
}
