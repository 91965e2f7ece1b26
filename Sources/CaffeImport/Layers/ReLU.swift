import CoreMLModel

/// max(0, x) + negative_slope · min(0, x)
enum ReLU: CaffeLayerConverter {
  static let typeNames = ["ReLU"]
  static let documentation = CaffeLayerDocumentation(
    "activation ReLU, leakyReLU", options: "`negative_slope`")

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    try layer.requireBottoms(1...1)
    let slope = try layer.parameters("relu_param").float("negative_slope")
    let activation = Activation(slope == 0 ? .relu : .leakyReLU(alpha: slope))
    return [
      inputs[0].with(network.add(layer.name, activation, [inputs[0].blob], to: layer.tops[0]))
    ]
  }
}
