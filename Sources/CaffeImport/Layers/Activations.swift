import CoreMLModel

/// A function of each element that is one Core ML activation.
protocol PlainActivation: CaffeLayerConverter {
  static func activation(_ layer: CaffeLayer) throws -> Activation.Function
}

extension PlainActivation {
  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    let input = try layer.input(inputs)
    let function = Activation(try activation(layer))
    return [input.with(network.add(layer.name, function, [input.blob], to: layer.tops[0]))]
  }
}

/// max(0, x) + negative_slope · min(0, x)
enum ReLU: PlainActivation {
  static let typeNames = ["ReLU"]
  static let documentation = CaffeLayerDocumentation(
    "activation ReLU; leakyReLU", options: "`negative_slope`")

  static func activation(_ layer: CaffeLayer) throws -> Activation.Function {
    let slope = try layer.parameters("relu_param").float("negative_slope")
    return slope == 0 ? .relu : .leakyReLU(alpha: slope)
  }
}

enum SigmoidLayer: PlainActivation {
  static let typeNames = ["Sigmoid"]
  static let documentation = CaffeLayerDocumentation("activation sigmoid")

  static func activation(_ layer: CaffeLayer) -> Activation.Function { .sigmoid }
}

enum TanHLayer: PlainActivation {
  static let typeNames = ["TanH"]
  static let documentation = CaffeLayerDocumentation("activation tanh")

  static func activation(_ layer: CaffeLayer) -> Activation.Function { .tanh }
}

/// log(1 + eˣ)
enum BNLL: PlainActivation {
  static let typeNames = ["BNLL"]
  static let documentation = CaffeLayerDocumentation("activation softplus")

  static func activation(_ layer: CaffeLayer) -> Activation.Function { .softplus }
}

/// x > 0 ? x : alpha · (eˣ − 1)
enum ELU: PlainActivation {
  static let typeNames = ["ELU"]
  static let documentation = CaffeLayerDocumentation("activation ELU", options: "`alpha`")

  static func activation(_ layer: CaffeLayer) throws -> Activation.Function {
    .elu(alpha: try layer.parameters("elu_param").float("alpha"))
  }
}

/// |x|
enum AbsVal: CaffeLayerConverter {
  static let typeNames = ["AbsVal"]
  static let documentation = CaffeLayerDocumentation("unary abs")

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    let input = try layer.input(inputs)
    return [input.with(network.unary(.abs, input.blob, layer.name, epsilon: 0, to: layer.tops[0]))]
  }
}

/// x · sigmoid(beta · x)
enum Swish: CaffeLayerConverter {
  static let typeNames = ["Swish"]
  static let documentation = CaffeLayerDocumentation(
    "activation sigmoid, multiply; activation linear before where beta is not 1",
    options: "`beta`")

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    let input = try layer.input(inputs)
    let beta = try layer.parameters("swish_param").float("beta")
    let scaled =
      beta == 1 ? input.blob : network.affine(input.blob, beta, layer.part("scaled"))
    let gate = network.add(layer.part("sigmoid"), Activation(.sigmoid), [scaled])
    return [
      input.with(network.product(input.blob, gate, layer.name, to: layer.tops[0]))
    ]
  }
}

/// x · tanh(log(1 + eˣ))
enum Mish: CaffeLayerConverter {
  static let typeNames = ["Mish"]
  static let documentation = CaffeLayerDocumentation("activation softplus, tanh, multiply")

  static func convert(
    _ layer: CaffeLayer, inputs: [CaffeTensor], into network: inout CaffeNetworkWriter
  ) throws -> [CaffeTensor] {
    let input = try layer.input(inputs)
    let softplus = network.add(layer.part("softplus"), Activation(.softplus), [input.blob])
    let gate = network.add(layer.part("tanh"), Activation(.tanh), [softplus])
    return [
      input.with(network.product(input.blob, gate, layer.name, to: layer.tops[0]))
    ]
  }
}
