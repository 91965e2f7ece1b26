import ImportSupport

/// A weight as a blob
enum Parameter: CaffeLayerConverter {
  static let source = SourceLayer(
    "Parameter",
    becomes: "loadConstant; loadConstantND with more than three axes (specification 4)",
    options: "`shape`")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(0...0)
    let shape = try layer.parameters("parameter_param").message("shape").ints("dim", atLeast: 1)
    try layer.require(
      shape.count <= 5, unsupported: "a constant with \(shape.count) axes is not supported",
      field: "parameter_param.shape")
    let values = try layer.weight(0, "parameter", shape: shape)
    var tensor = network.constant(values, layer.name, output: layer.tops[0])
    // Constants are tracked for SSD; parameters could be large.
    tensor.constant = nil
    return [tensor]
  }
}
