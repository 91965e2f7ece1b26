import CoreMLModel
import ImportSupport

/// Masks steps whose elements all have one value, and sets them to 0.
enum MaskingLayer: KerasLayer {
  static let classes = [SourceLayer](
    "Masking",
    becomes: "nothing if `mask_value` is 0, otherwise a product with the computed mask",
    options: "`mask_value`, also a number for each element of a step")
  static let maskPolicy = MaskPolicy.decides

  static func configured(_ configuration: LayerConfiguration) throws -> ConfiguredLayer {
    let list =
      configuration.field("mask_value")?.value.array == nil
      ? [try configuration.double("mask_value", default: 0)]
      : try configuration.numbers("mask_value") ?? []
    // The mask value: one for all elements of a step, or one per element.
    let values = Set(list).count == 1 ? [Float(list[0])] : list.map { Float($0) }
    return conversion { call, network in
      let input = network.standard(try call.input, for: call.name)
      try call.require(
        input.rank == 3 || input.rank == 4,
        unsupported: "its input \(input.shapeText) is not a sequence of vectors")
      var output = input
      var distance = input
      if values.count > 1 {
        try call.require(
          input.channels == values.count,
          "mask_value has \(values.count) numbers for its input \(input.shapeText)")
        distance = network.add(
          call.name + "__distance__", Bias(Weights(values.map { -$0 }), [values.count]), to: input,
          along: input.rank - 1)
      }
      let mask = StepMask.differs(distance, from: values.count > 1 ? 0 : values[0])
      if values != [0] {
        let counts = network.relaid(network.steps(of: mask), to: input.layout, for: call.name)
        output.blob = network.product(input.blob, counts.blob, call.name)
      }
      output.mask = mask
      return [output]
    }
  }
}
