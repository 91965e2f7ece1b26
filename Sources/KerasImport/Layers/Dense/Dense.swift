import CoreMLModel
import ImportSupport

/// y = activation(x · kernel + bias) over the last axis.
enum Dense: KerasLayer {
  static let classes = [
    SourceLayer(
      "Dense", becomes: "innerProduct; a 1 × 1 convolution on images and volumes",
      options: "`use_bias`, `activation`"),
    SourceLayer("TimeDistributedDense", becomes: "innerProduct"),
  ]
  static let maskPolicy = MaskPolicy.passes
  static let leadingAxes = LeadingAxesPolicy.keeps

  /// The standard layout of the same rank, with the last axis in the channels.
  private static func channelsLast(_ layout: TensorLayout) -> TensorLayout {
    switch layout.axes.count {
    case 1: .vector
    case 2: .sequence
    case 3: .image
    default: .imageSequence
    }
  }

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let units = try configuration.int("units", "output_dim")
    let hasBias = try configuration.bool("use_bias", "bias", default: true)
    let activation = try ActivationFunction(configuration)
    return conversion(WeightSlot.named("kernel", hasBias ? "bias" : nil)) { call, network in
      var input = network.standard(try call.input, for: call.name)
      let channels = input.isShapeAssumed ? nil : input.channels
      let kernel = try call.weight("kernel", [channels, units])
      let bias = hasBias ? Weights(try call.weight("bias", [units])) : nil
      if input.layout.axes.last != .channel {
        input = network.relaid(input, to: Self.channelsLast(input.layout), for: call.name)
      }
      var output = input
      output.shape[input.rank - 1] = units
      if input.rank == 2 { output.isShapeAssumed = false }
      if input.layout.axes.contains(.height) || input.layout.axes.contains(.width) {
        // Core ML's inner product would flatten the image; a 1 × 1 convolution does not.
        let convolution = Convolution.pointwise(
          Weights(kernel.transposed([1, 0])), inputs: kernel.shape[0], outputs: units, bias: bias)
        output.blob = network.add(call.name, convolution, [input.blob])
      } else {
        output.blob = network.matrixProduct(
          input.blob, Weights(kernel.transposed([1, 0])), inputs: kernel.shape[0], outputs: units,
          bias: bias, call.name)
      }
      return [try network.activate(activation, output, call)]
    }
  }
}
