import Interpretation
import LibC
import TensorCore

/// Element-wise layers.
enum Elements {
  static let operations: [String: KerasOperations.Operation] = {
    var table: [String: KerasOperations.Operation] = [
      "Activation": { try same($0, $0.activated($0.input, "activation")) },
      "Softmax": { run in
        try run.require(
          run.inputs.count == 1 && run.inputs[0].mask == nil && run.field("axis")?.array == nil,
          "a softmax with a mask or over several axes is not interpreted")
        return same(run, Activation.softmax(run.input, axis: run.field("axis")?.int ?? -1))
      },
      "ELU": { run in
        let alpha = run.double("alpha", default: 1)
        return same(run, run.input.map { $0 > 0 ? $0 : alpha * expm1($0) })
      },
      "LeakyReLU": { run in
        let alpha = run.double("alpha", "negative_slope", default: 0.3)
        return same(run, run.input.map { $0 > 0 ? $0 : alpha * $0 })
      },
      "ThresholdedReLU": { run in
        let theta = run.double("theta", default: 1)
        return same(run, run.input.map { $0 > theta ? $0 : 0 })
      },
      "ReLU": relu, "PReLU": prelu, "BatchNormalization": normalization, "Masking": masking,
    ]
    let passive = ["InputLayer", "ActivityRegularization", "GradientReversal", "Identity"]
    for name in trainingNames + passive + ["ActivityRegularizer"] {
      table[name] = { same($0, $0.input) }
    }
    return table
  }()

  /// Layers that are active only in training.
  static let trainingNames = [
    "Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "RandomFlip", "RandomRotation",
    "RandomZoom",
    "RandomTranslation",
    "RandomContrast", "RandomBrightness", "RandomHeight", "RandomWidth",
    "RandomShear", "RandomPerspective", "RandomGrayscale", "RandomHue", "RandomSaturation",
    "RandomSharpness", "RandomColorJitter", "RandomColorDegeneration", "RandomErasing",
    "RandomGaussianBlur", "RandomInvert", "RandomPosterization", "RandomElasticTransform",
    "RandAugment", "AugMix", "CutMix", "MixUp", "StochasticDepth", "Solarization", "FixedDropout",
    "DropConnect", "DropBlock1D", "DropBlock2D",
  ]

  static func same(_ run: LayerRun, _ array: DoubleArray) -> [KerasValue] {
    [KerasValue(array: array, mask: run.inputs[0].mask)]
  }

  /// Adds a vector along the last axis.
  static func adding(_ array: DoubleArray, _ vector: [Double]) -> DoubleArray {
    var result = array
    for index in result.values.indices { result.values[index] += vector[index % vector.count] }
    return result
  }

  private static func relu(_ run: LayerRun) -> [KerasValue] {
    let most = run.field("max_value")?.double ?? .infinity
    let slope = run.double("negative_slope", default: 0)
    let threshold = run.double("threshold", default: 0)
    return same(run, run.input.map { x in x >= threshold ? min(x, most) : slope * (x - threshold) })
  }

  private static func prelu(_ run: LayerRun) throws -> [KerasValue] {
    let slopes = try run.weight(0)
    // Shared axes have length 1, so the slopes broadcast.
    let array = try Merges.broadcast(
      run.input, slopes.reshaped([1] + slopes.shape)
    ) { $0 > 0 ? $0 : $0 * $1 }
    return same(run, array)
  }

  private static func normalization(_ run: LayerRun) throws -> [KerasValue] {
    guard let axis = run.input.axis(run.field("axis")?.list?.first ?? run.field("axis")?.int ?? -1)
    else { throw run.missing("its axis") }
    let (outer, size, inner) = run.input.split(at: axis)
    var next = 0
    func vector(_ isThere: Bool, _ standard: Double) throws -> [Double] {
      guard isThere else { return [Double](repeating: standard, count: size) }
      next += 1
      return try run.vector(next - 1, size)
    }
    let gamma = try vector(run.bool("scale", default: true), 1)
    let beta = try vector(run.bool("center", default: true), 0)
    var mean = try vector(true, 0)
    var variance = try vector(true, 1)
    let epsilon = run.double("epsilon", default: 1e-3)
    // In training, tf.keras's frozen layers use the stored statistics.
    let adapts =
      run.isTraining && (run.bool("trainable", default: true) || !run.generation.isTensorFlow)
    if adapts || run.field("mode")?.int == 2 {
      try run.require(run.inputs[0].mask == nil, "statistics with a mask are not interpreted")
      let others = run.input.shape.indices.filter { $0 != axis }
      mean = Normalizations.mean(run.input, others).values
      variance = try Normalizations.variance(run.input, others).values
    }
    var result = run.input
    for block in 0..<outer {
      for channel in 0..<size {
        let factor = gamma[channel] / (variance[channel] + epsilon).squareRoot()
        let start = (block * size + channel) * inner
        for index in start..<start + inner {
          result.values[index] = (result.values[index] - mean[channel]) * factor + beta[channel]
        }
      }
    }
    return same(run, result)
  }

  /// Masks and zeroes the steps whose elements all equal the mask value.
  private static func masking(_ run: LayerRun) throws -> [KerasValue] {
    try run.require(run.input.rank >= 2, "an input of shape \(run.input.shape)")
    let value = run.double("mask_value", default: 0)
    let width = max(1, run.input.shape.last ?? 1)
    var (array, mask) = (run.input, [Double]())
    for row in 0..<run.input.count / width {
      let range = row * width..<(row + 1) * width
      let counts = array.values[range].contains { $0 != Double(Float(value)) }
      mask.append(counts ? 1 : 0)
      if !counts { for index in range { array.values[index] = 0 } }
    }
    return [KerasValue(array: array, mask: DoubleArray(shape: Array(array.shape.dropLast()), mask))]
  }
}
