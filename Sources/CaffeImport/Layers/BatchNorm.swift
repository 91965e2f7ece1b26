import CoreMLModel
import Formulas
import ImportSupport
import TensorCore

/// (x − mean) / √(variance + eps), with mean and variance divided by the third blob
enum BatchNorm: SingleInputConverter {
  static let source = SourceLayer(
    "BatchNorm",
    becomes: "batchnorm; with the statistics of the image if `use_global_stats` is false",
    options:
      "`eps`, `use_global_stats`; a third blob of 0 makes mean and variance 0; NVIDIA's `scale_bias` "
      + "and Intel's fourth and fifth blobs: scale and shift",
    refused: "statistics over a batch of several images")

  static func batchAxis(_ layer: LayerCall, _ batch: OmittedBatch) throws -> Int? {
    let isGlobal = try layer.parameters("batch_norm_param").bool("use_global_stats", default: true)
    return isGlobal && batch.axis == 0 ? 0 : nil
  }

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    let parameters = layer.parameters("batch_norm_param")
    let axis = min(1, input.shape.count - 1)
    guard axis >= 0 else { throw layer.error("its bottom is a scalar") }
    let channels = input.shape[axis]
    var norm = Batchnorm()
    norm.epsilon = try parameters.float("eps").orSmallest
    if try parameters.bool("use_global_stats", default: true) {
      let factor = try layer.vector(2, "scale factor", count: 1).array()[0]
      let inverse = factor == 0 ? 0 : 1 / factor
      norm.mean = try layer.vector(0, "mean", count: channels).multiplied(by: inverse)
      norm.variance = try layer.vector(1, "variance", count: channels).multiplied(by: inverse)
    } else {
      try norm.useStatistics(of: input, layer, field: "batch_norm_param.use_global_stats")
    }
    // NVIDIA's and Intel's layers include the scale and shift that BVLC leaves to a Scale layer.
    let isScaled =
      try parameters.bool("scale_bias", default: false) || parameters.has("scale_filler")
    if isScaled || layer.blobs.count > 3 {
      norm.gamma = Weights(try layer.vector(3, "scale", count: channels))
      if isScaled || layer.blobs.count > 4 {
        norm.beta = Weights(try layer.vector(4, "bias", count: channels))
      }
    }
    return network.normalized(input, axis, norm, layer)
  }
}

/// Scale and shift per channel (SegNet), or also with mean and variance (PSPNet).
enum BN: SingleInputConverter {
  static let source = SourceLayer(
    "BN", "SyncBN", "BatchNormalization",
    becomes:
      "scale with two blobs (`bn_mode: INFERENCE`); batchnorm with four (scale, shift, mean, variance) "
      + "and with two and `bn_mode: LEARN`", options: "`bn_param.bn_mode`, `bn_param.eps`",
    refused: "statistics over a batch of several images")

  static func top(of layer: LayerCall, _ network: inout CaffeWriter) throws -> CaffeTensor {
    let input = layer.input
    try layer.require(input.shape.count >= 2, "its bottom \(input.shapeText) has no channel axis")
    let parameters = layer.parameters("bn_param")
    let channels = input.shape[1]
    let factors = try layer.vector(0, "scale", count: channels)
    let shifts = try layer.vector(1, "bias", count: channels)
    let isWhole = layer.blobs.count >= 4
    let mode = try parameters.symbol("bn_mode", default: "LEARN")
    if !isWhole, mode == "INFERENCE" || parameters.has("frozen") {
      let moved = network.placed(input, axis: 1, in: Placement.channel, for: layer.name)
      return try network.scaled(moved, BroadcastAxes(channelsOf: moved), factors, shifts, layer)
    }
    var norm = Batchnorm()
    norm.gamma = Weights(factors)
    norm.beta = Weights(shifts)
    if isWhole {
      norm.epsilon = try parameters.float("eps", default: 1e-5).orSmallest
      norm.mean = Weights(try layer.vector(2, "mean", count: channels))
      norm.variance = Weights(try layer.vector(3, "variance", count: channels))
    } else {
      norm.epsilon = try parameters.float("eps", default: 1e-9).orSmallest
      try norm.useStatistics(of: input, layer, field: "bn_param.bn_mode")
    }
    return network.normalized(input, 1, norm, layer)
  }
}

extension Batchnorm {
  /// Normalizes with the mean and variance of the image, as in training.
  fileprivate mutating func useStatistics(
    of input: CaffeTensor, _ layer: LayerCall, field: String
  ) throws {
    try layer.require(
      input.shape.count > 1 && input.shape[0] == 1,
      unsupported: "statistics over \(input.shape.first ?? 0) images at once", field: field,
      hint: "a batch of one is supported")
    computeMeanVar = true
    instanceNormalization = true
  }
}

extension FloatValues {
  fileprivate func multiplied(by factor: Float) throws -> Weights {
    factor == 1 ? Weights(self) : Weights(try map { $0 * factor })
  }
}

extension CaffeWriter {
  fileprivate mutating func normalized(
    _ input: CaffeTensor, _ axis: Int, _ norm: Batchnorm, _ layer: LayerCall
  ) -> CaffeTensor {
    var norm = norm
    norm.channels = input.shape[axis]
    norm.gamma = norm.gamma ?? Weights(FloatValues(repeating: 1, shape: [norm.channels]))
    norm.beta = norm.beta ?? Weights(FloatValues(repeating: 0, shape: [norm.channels]))
    return withChannels(input, axis, layer) { network, moved, output in
      network.add(layer.name, norm, [moved.blob], to: output)
    }
  }
}
