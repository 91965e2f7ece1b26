/// exp(x) / Σ exp(x), over the channels of each pixel.
public final class Softmax: Layer {
  public init(name: String? = nil) {
    super.init(name, ActivationDefinition(activation: .softmax, typeName: "Softmax"))
  }
}

/// A function of each element, as a layer of its own.
public final class ActivationLayer: Layer {
  public init(_ activation: Activation, name: String? = nil) {
    super.init(
      name, ActivationDefinition(activation: activation, typeName: ActivationDefinition.typeName))
  }
}

struct ActivationDefinition: LayerDefinition {
  static let typeName = "Activation"

  var activation: Activation
  var typeName: String

  func write(_ inputs: [WrittenTensor], _ scope: LayerScope) throws -> WrittenTensor {
    let input = try scope.single(inputs)
    return scope.append(activation.layerParameters, [input], shape: input.shape)
  }
}
