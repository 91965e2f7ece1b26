import CoreMLModel
import ImportSupport

/// min(x, max_value) if x ≥ threshold, and negative_slope · (x − threshold) otherwise.
enum ReLU: KerasLayer {
  static let classes = [SourceLayer](
    "ReLU", becomes: "activation ReLU; leakyReLU; a chain of layers",
    options: "`max_value`, `negative_slope`, `threshold`")
  static let maskPolicy = MaskPolicy.passes
  static let leadingAxes = LeadingAxesPolicy.keeps

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let maximum =
      configuration.field("max_value") == nil
      ? nil : try configuration.double("max_value", atLeast: 0)
    let slope = try configuration.double("negative_slope", default: 0, atLeast: 0)
    let threshold = try configuration.double(
      "threshold", default: 0, atLeast: configuration.version.isAtLeast(2, 4) ? 0 : -.infinity)
    return conversion { call, network in
      var tensor = try call.input
      let x = tensor.blob
      if slope != 0, maximum == nil, threshold == 0 {
        tensor.blob = network.add(call.name, Activation(.leakyReLU(alpha: Float(slope))), [x])
        return [tensor]
      }
      let rectifier = Activation(
        threshold == 0 ? .relu : .thresholdedReLU(alpha: Float(threshold)))
      let isLast = maximum == nil && slope == 0
      var positive = network.add(
        call.name, rectifier, [x], to: call.name + (isLast ? "_output" : "_output_relu"))
      if let maximum { positive = network.addUpperLimit(Float(maximum), positive, name: call.name) }
      if slope != 0 {
        // max_value applies only to the part above the threshold.
        let below = network.add(
          call.name + "__below__", Activation(.linear(alpha: -1, beta: Float(threshold))), [x])
        let rectified = network.add(call.name + "__belowrelu__", Activation(.relu), [below])
        let scaled = network.add(
          call.name + "__slope__", Activation(.linear(alpha: Float(-slope), beta: 0)), [rectified])
        positive = network.add(
          call.name + "__sum__", Add(), [positive, scaled], to: call.name + "_output")
      }
      tensor.blob = positive
      return [tensor]
    }
  }
}
