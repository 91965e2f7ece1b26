import ImportSupport

/// Masks steps whose elements all have one value for the layers that follow, and sets them to 0.
struct MaskingLayer: KerasLayer {
  static let classes = [
    SourceLayer(
      "Masking",
      becomes: "nothing if `mask_value` is 0, otherwise a product with the computed mask",
      options: "`mask_value`")
  ]
  static let maskPolicy = MaskPolicy.decides

  private let value: Float

  init(_ configuration: LayerConfiguration) throws {
    // Some files have a list of one number.
    let list = configuration.field("mask_value")?.value.array
    if let list, list.count == 1, let number = list[0].double {
      value = Float(number)
    } else {
      value = Float(try configuration.double("mask_value", default: 0))
    }
  }

  func convert(_ call: LayerCall, into network: inout NetworkWriter) throws -> [KerasTensor] {
    let input = network.standard(try call.input, for: call.name)
    try call.require(
      input.rank == 3 || input.rank == 4,
      unsupported: "its input \(input.shapeText) is not a sequence of vectors")
    let mask = StepMask.differs(input, from: value)
    var output = input
    if value != 0 {
      let counts = network.relaid(network.steps(of: mask), to: input.layout, for: call.name)
      output.blob = network.product(input.blob, counts.blob, call.name)
    }
    output.mask = mask
    return [output]
  }
}
