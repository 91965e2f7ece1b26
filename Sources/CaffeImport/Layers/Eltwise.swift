import CoreMLModel
import ImportSupport

/// Sum, product or maximum of several bottoms
enum Eltwise: ElementwiseConverter {
  static let source = SourceLayer(
    "Eltwise",
    becomes: "add; multiply; max; a factor other than 1 becomes a linear activation before it",
    options: "`operation`, `coeff`; `stable_prod_grad` is for training")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(2...Int.max)
    let parameters = layer.parameters("eltwise_param")
    let operation = try parameters.symbol("operation")
    let factors = try parameters.floats("coeff")
    try parameters.require(
      factors.isEmpty || operation == "SUM", "coeff",
      "coefficients with the operation \(operation)", hint: "only SUM has coefficients")
    try parameters.require(
      factors.isEmpty || factors.count == layer.inputs.count, "coeff",
      "\(factors.count) coefficients for \(layer.inputs.count) bottoms")
    let first = network.five(layer.inputs[0], for: layer.name)
    var blobs = try layer.inputs.map { input in
      try layer.require(
        input.shape == first.shape,
        "its bottoms have the shapes \(first.shapeText) and \(input.shapeText); equal shapes are "
          + "needed")
      return network.blob(of: input, axes: first.axes, layer)
    }
    for (index, factor) in factors.enumerated() where factor != 1 {
      blobs[index] = network.affine(blobs[index], factor, layer.part("coeff\(index)"))
    }
    let top = layer.tops[0]
    switch operation {
    case "SUM": return [first.with(network.sum(blobs, layer.name, to: top))]
    case "PROD": return [first.with(network.add(layer.name, Multiply(), blobs, to: top))]
    case "MAX": return [first.with(network.add(layer.name, Max(), blobs, to: top))]
    default: throw parameters.unsupported("operation", operation)
    }
  }
}

/// a[n, c] · x + y
enum Axpy: CaffeLayerConverter {
  static let source = SourceLayer("Axpy", becomes: "multiply, add")

  static func convert(_ layer: LayerCall, _ network: inout CaffeWriter) throws -> [CaffeTensor] {
    try layer.requireBottoms(3...3)
    let x = network.five(layer.inputs[1], for: layer.name)
    let rank = x.shape.count
    try layer.require(
      rank >= 2 && layer.inputs[0].shape.count >= 2 && layer.inputs[0].shape.count <= rank
        && layer.inputs[0].shape[..<2] == x.shape[..<2]
        && layer.inputs[0].shape.dropFirst(2).allSatisfy({ $0 == 1 })
        && layer.inputs[2].shape == x.shape,
      "its bottoms have the shapes \(layer.inputs.map(\.shapeText).joined(separator: ", ")); "
        + "expected (N, C, 1, 1), (N, C, H, W) and (N, C, H, W)")
    let factor = network.blob(
      of: layer.inputs[0], axes: Array(x.axes[..<layer.inputs[0].shape.count]), layer)
    let y = network.blob(of: layer.inputs[2], axes: x.axes, layer)
    let product = network.product(factor, x.blob, layer.part("product"))
    return [x.with(network.sum([product, y], layer.name, to: layer.tops[0]))]
  }
}
