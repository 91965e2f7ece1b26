import ImportSupport

/// A function of each element.
protocol ElementActivation: SingleInputConverter, ElementwiseConverter {
  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula
}

extension ElementActivation {
  static func top(of layer: CaffeLayer, _ network: inout CaffeNetwork) throws -> CaffeTensor {
    let names = ActivationNames(
      layer.name, prefix: layer.name + "_", suffix: "", output: layer.tops[0])
    return layer.input.with(network.add(try formula(layer), layer.input.blob, names))
  }
}

/// max(0, x) + negative_slope · min(0, x)
enum ReLU: ElementActivation {
  static let source = SourceLayer(
    "ReLU", becomes: "activation ReLU; leakyReLU", options: "`negative_slope`")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    let slope = try layer.parameters("relu_param").float("negative_slope")
    return .single(slope == 0 ? .relu : .leakyReLU(alpha: slope))
  }
}

enum SigmoidLayer: ElementActivation {
  static let source = SourceLayer("Sigmoid", becomes: "activation sigmoid")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .single(.sigmoid) }
}

enum TanHLayer: ElementActivation {
  static let source = SourceLayer("TanH", becomes: "activation tanh")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .single(.tanh) }
}

/// log(1 + eˣ)
enum BNLL: ElementActivation {
  static let source = SourceLayer("BNLL", becomes: "activation softplus")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .single(.softplus) }
}

/// x > 0 ? x : alpha · (eˣ − 1)
enum ELU: ElementActivation {
  static let source = SourceLayer("ELU", becomes: "activation ELU", options: "`alpha`")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    .single(.elu(alpha: try layer.parameters("elu_param").float("alpha")))
  }
}

/// lambda · (x > 0 ? x : alpha · (eˣ − 1)), of BVLC/caffe's commit 3866af4, `selu_layer.cpp`
enum SELU: ElementActivation {
  static let source = SourceLayer(
    "SeLu", "SeLU", "SELU", becomes: "activation ELU, linear",
    options: "`selu_param.lambda`, default 1.050700987; `selu_param.alpha`, default 1.67326324")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    let parameters = layer.parameters("selu_param")
    return .scaled(
      .elu(alpha: try parameters.float("alpha", default: 1.67326324)),
      by: try parameters.float("lambda", default: 1.050700987))
  }
}

/// |x|
enum AbsVal: SingleInputConverter, ElementwiseConverter {
  static let source = SourceLayer("AbsVal", becomes: "unary abs")

  static func top(of layer: CaffeLayer, _ network: inout CaffeNetwork) throws -> CaffeTensor {
    return layer.input.with(
      network.unary(.abs, layer.input.blob, layer.name, epsilon: 0, to: layer.tops[0]))
  }
}

/// x · sigmoid(beta · x)
enum Swish: ElementActivation {
  static let source = SourceLayer(
    "Swish", becomes: "activation sigmoid, multiply; activation linear first if beta is not 1",
    options: "`beta`")

  static func formula(_ layer: CaffeLayer) throws -> ActivationFormula {
    .swish(beta: try layer.parameters("swish_param").float("beta"))
  }
}

/// x · tanh(log(1 + eˣ))
enum Mish: ElementActivation {
  static let source = SourceLayer("Mish", becomes: "activation softplus, tanh, multiply")

  static func formula(_ layer: CaffeLayer) -> ActivationFormula { .mish }
}
