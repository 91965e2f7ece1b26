import CoreMLModel
import ImportSupport

/// A function of each element.
protocol ElementActivation: SingleInputConverter {
  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula
}

extension ElementActivation {
  static func convert(
    _ layer: CaffeLayer, _ input: CaffeTensor, into network: inout CaffeNetworkWriter
  ) throws -> CaffeTensor {
    let names = ActivationNames(
      layer.name, prefix: layer.name + "_", suffix: "", output: layer.tops[0])
    return input.with(network.add(try formula(layer), input.blob, names))
  }
}

/// max(0, x) + negative_slope · min(0, x)
enum ReLU: ElementActivation {
  static let typeNames = ["ReLU"]
  static let documentation = DocumentationRow(
    "activation ReLU; leakyReLU", options: "`negative_slope`")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    let slope = try layer.parameters("relu_param").float("negative_slope")
    return .single(slope == 0 ? .relu : .leakyReLU(alpha: slope))
  }
}

enum SigmoidLayer: ElementActivation {
  static let typeNames = ["Sigmoid"]
  static let documentation = DocumentationRow("activation sigmoid")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .single(.sigmoid) }
}

enum TanHLayer: ElementActivation {
  static let typeNames = ["TanH"]
  static let documentation = DocumentationRow("activation tanh")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .single(.tanh) }
}

/// log(1 + eˣ)
enum BNLL: ElementActivation {
  static let typeNames = ["BNLL"]
  static let documentation = DocumentationRow("activation softplus")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .single(.softplus) }
}

/// x > 0 ? x : alpha · (eˣ − 1)
enum ELU: ElementActivation {
  static let typeNames = ["ELU"]
  static let documentation = DocumentationRow("activation ELU", options: "`alpha`")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    .single(.elu(alpha: try layer.parameters("elu_param").float("alpha")))
  }
}

/// |x|
enum AbsVal: SingleInputConverter {
  static let typeNames = ["AbsVal"]
  static let documentation = DocumentationRow("unary abs")

  static func convert(
    _ layer: CaffeLayer, _ input: CaffeTensor, into network: inout CaffeNetworkWriter
  ) throws -> CaffeTensor {
    return input.with(network.unary(.abs, input.blob, layer.name, epsilon: 0, to: layer.tops[0]))
  }
}

/// x · sigmoid(beta · x)
enum Swish: ElementActivation {
  static let typeNames = ["Swish"]
  static let documentation = DocumentationRow(
    "activation sigmoid, multiply; activation linear before where beta is not 1",
    options: "`beta`")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    .swish(beta: try layer.parameters("swish_param").float("beta"))
  }
}

/// x · tanh(log(1 + eˣ))
enum Mish: ElementActivation {
  static let typeNames = ["Mish"]
  static let documentation = DocumentationRow("activation softplus, tanh, multiply")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .mish }
}
