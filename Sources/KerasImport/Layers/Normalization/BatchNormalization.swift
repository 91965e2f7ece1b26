import CoreMLModel
import ImportSupport

/// gamma · (x − mean) / √(variance + epsilon) + beta along one axis.
///
/// Folds mean and variance into gamma and beta in double precision, as coremltools does:
/// gamma′ = gamma / √(variance + epsilon), beta′ = beta − gamma′ · mean, mean′ = 0,
/// variance′ = 1 − 1e-5, epsilon′ = 1e-5.
enum BatchNormalization: KerasLayer {
  static let classes = [SourceLayer](
    "BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2",
    "SyncBatchNormalization", "BatchNorm", "FixedBatchNormalization",
    becomes: "batchnorm, folded; wrapped in permutes",
    options:
      "`axis`, `scale`, `center`; Keras 1 `mode` 2 and calls with `training=True` in Keras 2: statistics of the input; BatchNorm of Mask R-CNN, FixedBatchNormalization of keras-frcnn, `freeze` of keras-resnet",
    refused: "Keras 1 `mode` 1: batch statistics")
  static let maskPolicy = MaskPolicy.passes
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let axes = try configuration.ints("axis") ?? [-1]
    try configuration.require(
      axes.count == 1, "axis",
      unsupported: "normalization along the axes \(axes) together is not supported")
    let axis = axes[0]
    let epsilon = try configuration.double("epsilon", default: 1e-3)
    let affine = try ScaleAndCenter(configuration)
    let mode = try configuration.int("mode", default: 0, atLeast: 0)
    // Keras 1's mode 2: uses the mean and variance of the batch, which consists of one input here.
    let usesInput = mode == 2
    let isFrozen = try configuration.bool("freeze", default: false)
    let isTrainable = try !isFrozen && configuration.bool("trainable", default: true)
    try configuration.require(
      mode == 0 || usesInput, "mode",
      unsupported: "\(mode): normalization by the statistics of each batch is not supported")
    // Whether training uses batch renormalization, which stores additional averages.
    let isRenormalized = try configuration.bool("renorm", default: false)
    return conversion(
      affine.weights
        + (["moving_mean", "moving_variance"]
        + (isRenormalized ? ["moving_stddev", "renorm_mean", "renorm_stddev"] : []))
        .map { WeightSlot($0, isTrainable: false) }
    ) { call, network in
      let tensor = try call.input
      let axis = try call.axis(axis, of: tensor)
      let count: [Int?] = [tensor.isShapeAssumed ? nil : tensor.shape[axis]]
      let mean = try call.weight("moving_mean", count).array()
      let variance = try call.weight("moving_variance", [mean.count]).array()
      let stored = try affine.values(call, [mean.count])
      let (gamma, beta) = try (stored.gamma?.array(), stored.beta?.array())
      if usesInput || call.trains(isTrainable) {
        guard tensor.rank > 2, !isRenormalized else {
          throw call.unsupported("statistics of \(tensor.shapeText) per channel are not supported")
        }
        let planes = network.relaid(
          tensor, to: try TensorLayout(channel: axis, rank: tensor.rank, call), for: call.name)
        network.notes.append(
          "layer '\(call.name)' (\(call.className)) normalizes by the statistics of its input: in Keras, a "
            + "larger batch would be normalized as a whole")
        var own = Batchnorm()
        own.channels = mean.count
        own.computeMeanVar = true
        own.instanceNormalization = true
        own.epsilon = Float(max(epsilon, 1e-30))
        own.gamma = Weights(gamma ?? [Float](repeating: 1, count: mean.count))
        own.beta = Weights(beta ?? [Float](repeating: 0, count: mean.count))
        let result = planes.with(network.add(call.name, own, [planes.blob]))
        return [network.relaid(result, to: tensor.layout, for: call.name + "_back")]
      }
      var foldedGamma: [Float] = []
      var foldedBeta: [Float] = []
      for index in mean.indices {
        let factor = Double(gamma?[index] ?? 1) / (Double(variance[index]) + epsilon).squareRoot()
        foldedGamma.append(Float(factor))
        foldedBeta.append(Float(Double(beta?[index] ?? 0) - factor * Double(mean[index])))
      }
      var batchnorm = Batchnorm()
      batchnorm.channels = mean.count
      batchnorm.epsilon = 1e-5
      batchnorm.gamma = Weights(foldedGamma)
      batchnorm.beta = Weights(foldedBeta)
      batchnorm.mean = Weights([Float](repeating: 0, count: mean.count))
      batchnorm.variance = Weights([Float](repeating: 1 - 1e-5, count: mean.count))
      return [network.add(call.name, batchnorm, to: tensor, along: axis)]
    }
  }
}
