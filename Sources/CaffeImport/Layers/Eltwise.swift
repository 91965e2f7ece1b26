import CoreMLModel
import ImportSupport

/// Sum, product or maximum of several bottoms
enum Eltwise: CaffeLayerConverter {
  static let typeNames = ["Eltwise"]
  static let documentation = DocumentationRow(
    "add; multiply; max; a factor other than 1 becomes activation linear before",
    options: "`operation`, `coeff`; `stable_prod_grad` is for training")

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    try layer.requireBottoms(2...Int.max)
    let parameters = layer.parameters("eltwise_param")
    let operation = try parameters.symbol("operation")
    let factors = try parameters.floats("coeff")
    guard factors.isEmpty || operation == "SUM" else {
      throw parameters.error("coeff", "factors of a \(operation)", hint: "SUM alone has them")
    }
    guard factors.isEmpty || factors.count == inputs.count else {
      throw parameters.error(
        "coeff", "\(factors.count) factors for \(inputs.count) bottoms")
    }
    let first = network.five(inputs[0], for: layer.name)
    var blobs = try inputs.map { input in
      guard input.shape == first.shape else {
        throw layer.error(
          "its bottoms have the shapes \(first.shapeText) and \(input.shapeText), equal ones are "
            + "needed")
      }
      return network.placed(
        network.five(input, for: layer.name), axes: first.axes, for: layer.name
      ).blob
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
  static let typeNames = ["Axpy"]
  static let documentation = DocumentationRow("multiply, add")

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    try layer.requireBottoms(3...3)
    let x = network.five(inputs[1], for: layer.name)
    let rank = x.shape.count
    guard rank >= 2, inputs[0].shape.count >= 2, inputs[0].shape.count <= rank,
      inputs[0].shape[..<2] == x.shape[..<2],
      inputs[0].shape.dropFirst(2).allSatisfy({ $0 == 1 }), inputs[2].shape == x.shape
    else {
      throw layer.error(
        "its bottoms have the shapes \(inputs.map(\.shapeText).joined(separator: ", ")); "
          + "(N, C, 1, 1) and twice (N, C, H, W) are needed")
    }
    let factor = network.placed(
      network.five(inputs[0], for: layer.name), axes: Array(x.axes[..<inputs[0].shape.count]),
      for: layer.name)
    let y = network.placed(
      network.five(inputs[2], for: layer.name), axes: x.axes, for: layer.name)
    let product = network.product(factor.blob, x.blob, layer.part("product"))
    return [
      x.with(network.sum([product, y.blob], layer.name, to: layer.tops[0]))
    ]
  }
}
