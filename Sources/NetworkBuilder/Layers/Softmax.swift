/// exp(x) / Σ exp(x), over the channels of each pixel.
public final class Softmax: Layer, @unchecked Sendable {
  /// A softmax without weights or settings.
  public init(name: String? = nil) {
    super.init(name, ActivationDefinition(activation: .softmax, typeName: "Softmax"))
  }
}

/// An elementwise function as a separate layer.
public final class ActivationLayer: Layer, @unchecked Sendable {
  /// - Parameter activation: any function, including a softmax or a custom one.
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
